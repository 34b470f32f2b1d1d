/** What is searched for in a store, how, and under which condition. Enter applies it. */
import { Search } from "lucide-react"
import { useState } from "react"
import { ApiError, reason } from "@/api/client"
import type { StoreData } from "@/api/schema"
import { FilterField } from "@/components/documents/FilterField"
import { Button } from "@/components/ui/Button"
import { SearchField } from "@/components/ui/SearchField"
import { Segmented } from "@/components/ui/Segmented"
import type { StoreSearch } from "./queries"
import styles from "./stores.module.css"

type StoreFiltersProps = {
  store: StoreData
  search: StoreSearch
  onChange: (more: { [Name in keyof StoreSearch]: StoreSearch[Name] | undefined }) => void
  error: unknown
}

export function StoreFilters({ store, search, onChange, error }: StoreFiltersProps) {
  const [q, setQ] = useState(search.q ?? "")
  const [where, setWhere] = useState(search.where ?? "")
  const modes: readonly string[] = store.abilities.modes
  const usual = modes.includes("keyword") ? "keyword" : "vector"
  const wrong = search.where !== undefined && error instanceof ApiError && error.http === 400
  const apply = (more: StoreSearch = {}) => onChange({ q: q.trim(), where: where.trim(), ...more })
  return (
    <form
      className={styles.filters}
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <div className={styles.find}>
        <SearchField
          label="Search documents"
          value={q}
          onChange={(text) => {
            setQ(text)
            if (text === "" && search.q !== undefined) onChange({ q: undefined, mode: undefined })
          }}
        />
        {modes.length > 1 && (
          <Segmented
            label="Search mode"
            value={search.mode ?? usual}
            onChange={(mode) => apply({ mode: mode === usual ? "" : mode })}
            items={modes.map((mode) => ({ value: mode, label: mode }))}
          />
        )}
        <Button type="submit" icon={<Search aria-hidden />}>
          Search
        </Button>
      </div>
      <FilterField
        value={where}
        onChange={setWhere}
        store={store.name}
        error={wrong ? reason(error) : undefined}
      />
    </form>
  )
}
