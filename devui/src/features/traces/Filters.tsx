/** The filters of the list. Each is in the address, so that a filtered list can be sent to somebody. */
import { useQuery } from "@tanstack/react-query"
import { X } from "lucide-react"
import { useEffect, useState } from "react"
import { actionsQuery } from "@/api/queries"
import { Button } from "@/components/ui/Button"
import { Combobox } from "@/components/ui/Combobox"
import { SearchField } from "@/components/ui/SearchField"
import { Select } from "@/components/ui/Select"
import { Switch } from "@/components/ui/Switch"
import { sortKinds } from "@/lib/kinds"
import { isFiltered, LEAST, type Search, SINCE, STATUSES } from "./filter"
import { SavedFilters } from "./SavedFilters"
import styles from "./TracesPage.module.css"

interface FiltersProps {
  search: Search
  onChange: (change: Search, replace?: boolean) => void
  onClear: () => void
  onUse: (search: Search) => void
}

const ANY = "*"
const WAIT_MS = 250
const KINDS = ["flow", "model", "prompt", "tool", "retriever", "reranker", "indexer", "embedder", "evaluator"]

export function Filters({ search, onChange, onClear, onUse }: FiltersProps) {
  const actions = useQuery(actionsQuery).data?.actions ?? []
  const set = (name: keyof Search) => (value: string) => onChange({ [name]: value === ANY ? "" : value })
  const kinds = sortKinds(new Set([...KINDS, ...(search.kind ? [search.kind] : [])]))
  const keys = new Set([...actions.map((action) => action.key), ...(search.action ? [search.action] : [])])
  return (
    <search className={styles.filters}>
      <div className={styles.words}>
        <Text name="Search traces" value={search.q ?? ""} onChange={(q) => onChange({ q }, true)} />
      </div>
      <Select
        label="Status"
        value={search.status ?? ANY}
        onChange={set("status")}
        items={[{ value: ANY, label: "Any status" }, ...STATUSES.map((value) => ({ value, label: value }))]}
      />
      <Select
        label="Kind"
        value={search.kind ?? ANY}
        onChange={set("kind")}
        items={[{ value: ANY, label: "Any kind" }, ...kinds.map((value) => ({ value, label: value }))]}
      />
      <div className={styles.action}>
        <Combobox
          label="Action"
          value={search.action ?? ANY}
          onChange={set("action")}
          items={[
            { value: ANY, label: "Any action" },
            ...[...keys].sort().map((key) => ({ value: key, label: key.replace(/^\//, "") })),
          ]}
        />
      </div>
      <Select
        label="Started"
        value={search.since ?? ANY}
        onChange={set("since")}
        items={withOwn(
          [{ value: ANY, label: "Any time" }, ...SINCE],
          search.since,
          (text) => `Since ${text}`,
        )}
      />
      <Select
        label="Duration"
        value={search.minMs ?? ANY}
        onChange={set("minMs")}
        items={withOwn(
          [{ value: ANY, label: "Any duration" }, ...LEAST],
          search.minMs,
          (ms) => `${ms} ms or more`,
        )}
      />
      <div className={styles.label}>
        <Text
          name="Label"
          placeholder="label=value"
          value={search.label ?? ""}
          onChange={(label) => onChange({ label }, true)}
        />
      </div>
      <Switch
        label="Internal"
        checked={search.internal !== undefined}
        onChange={(internal) => onChange({ internal: internal ? "1" : "" })}
      />
      <SavedFilters search={search} onUse={onUse} />
      {isFiltered(search) && (
        <Button size="s" variant="ghost" icon={<X aria-hidden />} onClick={onClear}>
          Clear
        </Button>
      )}
    </search>
  )
}

function withOwn(
  items: readonly { value: string; label: string }[],
  own: string | undefined,
  name: (own: string) => string,
) {
  if (own === undefined || items.some((item) => item.value === own)) return items
  return [...items, { value: own, label: name(own) }]
}

interface TextProps {
  name: string
  value: string
  placeholder?: string
  onChange: (value: string) => void
}

/** Typed here, told when the typing rests. */
function Text({ name, value, placeholder, onChange }: TextProps) {
  const [typed, setTyped] = useState(value)
  const [told, setTold] = useState(value)
  if (value !== told) {
    setTold(value)
    setTyped(value)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed starts the wait
  useEffect(() => {
    if (typed === value) return
    const timer = setTimeout(() => {
      setTold(typed)
      onChange(typed)
    }, WAIT_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return <SearchField label={name} placeholder={placeholder} value={typed} onChange={setTyped} />
}
