/** Documents of an index, a page at a time. */
import type { UseQueryResult } from "@tanstack/react-query"
import { ChevronRight, ChevronsLeft, SearchX, Trash2 } from "lucide-react"
import { ApiError } from "@/api/client"
import type { StoreData, StoredDocument, StoredDocuments } from "@/api/schema"
import { Highlighted } from "@/components/documents/Highlighted"
import { Button } from "@/components/ui/Button"
import { Checkbox } from "@/components/ui/Checkbox"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { Skeleton } from "@/components/ui/Skeleton"
import table from "@/components/ui/table.module.css"
import { classes } from "@/lib/classes"
import { placeOf } from "@/lib/documents"
import { count, plural } from "@/lib/format"
import { excerpt } from "@/lib/highlight"
import type { StoreSearch } from "./queries"
import styles from "./stores.module.css"

type DocumentListProps = {
  store: StoreData
  search: StoreSearch
  documents: UseQueryResult<StoredDocuments>
  selected: ReadonlySet<string>
  onSelect: (ids: ReadonlySet<string>) => void
  onOpen: (id: string) => void
  onPage: (cursor: string | undefined) => void
  onDelete: (ids: string[]) => void
}

export function DocumentList(props: DocumentListProps) {
  const { store, search, documents, selected, onSelect, onOpen, onPage, onDelete } = props
  if (documents.isError) {
    // A wrong filter is told beside its field.
    const told =
      search.where !== undefined && documents.error instanceof ApiError && documents.error.http === 400
    return told ? null : <Failure error={documents.error} onRetry={() => documents.refetch()} />
  }
  if (documents.isPending) return <Skeleton lines={10} />
  const rows = documents.data.documents
  const scored = search.q !== undefined
  const writes = store.abilities.writes
  const all = rows.length > 0 && rows.every((row) => selected.has(row.id))
  const toggle = (ids: readonly string[], on: boolean) => {
    const next = new Set(selected)
    for (const id of ids) on ? next.add(id) : next.delete(id)
    onSelect(next)
  }
  if (rows.length === 0) {
    return (
      <Empty
        icon={<SearchX aria-hidden />}
        title="No document is like that"
        text="Take a condition or a word away to see more."
      />
    )
  }
  return (
    <section
      aria-label="Documents"
      aria-busy={documents.isPlaceholderData}
      data-stale={documents.isPlaceholderData || undefined}
      className={styles.documents}
    >
      <div className={styles.bar}>
        <span>
          {scored
            ? `${plural(rows.length, "hit")}, by ${documents.data.mode ?? "score"}`
            : `${plural(rows.length, "document")} on this page`}
        </span>
        {selected.size > 0 && (
          <Button
            size="s"
            variant="danger"
            icon={<Trash2 aria-hidden />}
            onClick={() => onDelete([...selected])}
          >
            Delete {count(selected.size)} selected…
          </Button>
        )}
        {!scored && (
          <span className={styles.pages}>
            {search.cursor !== undefined && (
              <Button
                size="s"
                variant="ghost"
                icon={<ChevronsLeft aria-hidden />}
                onClick={() => onPage(undefined)}
              >
                First page
              </Button>
            )}
            <Button
              size="s"
              variant="ghost"
              disabled={documents.data.cursor === null || documents.data.cursor === undefined}
              onClick={() => onPage(documents.data.cursor ?? undefined)}
            >
              Next page <ChevronRight aria-hidden />
            </Button>
          </span>
        )}
      </div>
      <div className={styles.wide}>
        <table className={table.table}>
          <thead>
            <tr>
              {writes && (
                <th className={styles.check}>
                  <Checkbox
                    checked={all}
                    indeterminate={!all && selected.size > 0}
                    label="Select all on this page"
                    hideLabel
                    onChange={(on) =>
                      toggle(
                        rows.map((row) => row.id),
                        on,
                      )
                    }
                  />
                </th>
              )}
              {scored && <th className={table.num}>Score</th>}
              <th>Text</th>
              <th>Source</th>
              {search.id === undefined && <th className={table.num}>Characters</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr
                key={row.id}
                data-id={row.id}
                className={classes(table.row, search.id === row.id && table.selected)}
              >
                {writes && (
                  <td className={styles.check}>
                    <Checkbox
                      checked={selected.has(row.id)}
                      label={`Select ${row.text.slice(0, 40)}`}
                      hideLabel
                      onChange={(on) => toggle([row.id], on)}
                    />
                  </td>
                )}
                {scored && <td className={table.num}>{row.score?.toFixed(3) ?? "—"}</td>}
                <td className={styles.textCell}>
                  <button type="button" onClick={() => onOpen(row.id)} aria-pressed={search.id === row.id}>
                    <Highlighted
                      segments={excerpt(
                        row.text.replace(/\s+/g, " "),
                        search.q ?? "",
                        search.id === undefined ? 160 : 60,
                      )}
                    />
                  </button>
                </td>
                <td className={styles.sourceCell}>
                  <Where document={row} />
                </td>
                {search.id === undefined && <td className={table.num}>{count(row.characters)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Where({ document }: { document: StoredDocument }) {
  const place = placeOf(document.metadata)
  const parts = [
    document.source ?? "no source",
    place.page === undefined ? place.heading : `page ${place.page}`,
    place.index === undefined ? undefined : `chunk ${place.index}`,
  ]
  return <span title={document.source ?? undefined}>{parts.filter(Boolean).join(" · ")}</span>
}
