/** Where the documents of an index are from; one of them narrows the list. */
import { useQuery } from "@tanstack/react-query"
import { Trash2 } from "lucide-react"
import { useState } from "react"
import type { StoreData } from "@/api/schema"
import { IconButton } from "@/components/ui/Button"
import { Failure } from "@/components/ui/Failure"
import { SearchField } from "@/components/ui/SearchField"
import { Skeleton } from "@/components/ui/Skeleton"
import { count, plural } from "@/lib/format"
import { sourcesQuery } from "./queries"
import styles from "./stores.module.css"

type SourcesProps = {
  store: StoreData
  chosen: string | undefined
  onChoose: (source: string | undefined) => void
  onDelete: ((source: string) => void) | undefined
}

const MANY = 12

export function Sources({ store, chosen, onChoose, onDelete }: SourcesProps) {
  const sources = useQuery(sourcesQuery(store.name))
  const [part, setPart] = useState("")
  if (sources.isPending) return <Skeleton lines={4} />
  if (sources.isError) return <Failure error={sources.error} onRetry={() => sources.refetch()} />
  const all = sources.data.sources
  const some = all.filter(({ source }) => (source ?? "").toLowerCase().includes(part.toLowerCase()))
  return (
    <nav className={styles.sources} aria-label="Sources">
      <h2 className={styles.title}>{plural(all.length, "source")}</h2>
      {all.length > MANY && <SearchField label="Find a source" value={part} onChange={setPart} />}
      <ul>
        <li className={styles.source} data-chosen={chosen === undefined || undefined}>
          <button type="button" aria-current={chosen === undefined} onClick={() => onChoose(undefined)}>
            <span>All</span>
            <span className={styles.count}>{count(store.count)}</span>
          </button>
        </li>
        {some.map(({ source, count: number }) =>
          source === null ? (
            <li key="" className={styles.source}>
              <span className={styles.nameless}>
                <span>without a source</span>
                <span className={styles.count}>{count(number)}</span>
              </span>
            </li>
          ) : (
            <li key={source} className={styles.source} data-chosen={chosen === source || undefined}>
              <button
                type="button"
                aria-current={chosen === source}
                title={source}
                onClick={() => onChoose(source)}
              >
                <span>{source}</span>
                <span className={styles.count}>{count(number)}</span>
              </button>
              {onDelete !== undefined && (
                <IconButton
                  label={`Delete ${source}`}
                  size="s"
                  icon={<Trash2 aria-hidden />}
                  onClick={() => onDelete(source)}
                />
              )}
            </li>
          ),
        )}
      </ul>
      {!sources.data.complete && <p className={styles.more}>There are more; these are what was counted.</p>}
    </nav>
  )
}
