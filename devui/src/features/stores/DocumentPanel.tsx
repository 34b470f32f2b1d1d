/** One document of an index, whole: text, metadata, vector, neighbours. */
import { useQuery } from "@tanstack/react-query"
import { Trash2, X } from "lucide-react"
import { useState } from "react"
import type { StoreData, VectorData } from "@/api/schema"
import { Highlighted } from "@/components/documents/Highlighted"
import { hasNeighbours, Neighbours } from "@/components/documents/Neighbours"
import { Provenance } from "@/components/documents/Provenance"
import { JsonView } from "@/components/JsonView"
import { Button, IconButton } from "@/components/ui/Button"
import { CopyButton } from "@/components/ui/CopyButton"
import { Failure } from "@/components/ui/Failure"
import { Section } from "@/components/ui/Section"
import { Skeleton } from "@/components/ui/Skeleton"
import { count, plural } from "@/lib/format"
import { highlight } from "@/lib/highlight"
import styles from "./DocumentPanel.module.css"
import { documentQuery } from "./queries"

type DocumentPanelProps = {
  store: StoreData
  id: string
  query: string
  onClose: () => void
  onDelete: ((id: string) => void) | undefined
}

export function DocumentPanel({ store, id, query, onClose, onDelete }: DocumentPanelProps) {
  const found = useQuery(documentQuery(store.name, id))
  const [around, setAround] = useState(false)
  return (
    <aside className={styles.panel} aria-label="Document">
      <div className={styles.head}>
        <code className={styles.id} title={id}>
          {id}
        </code>
        <CopyButton text={id} label="Copy id" />
        {onDelete !== undefined && (
          <IconButton
            label="Delete this document"
            size="s"
            icon={<Trash2 aria-hidden />}
            onClick={() => onDelete(id)}
          />
        )}
        <IconButton label="Close the document" size="s" icon={<X aria-hidden />} onClick={onClose} />
      </div>
      {found.isPending && <Skeleton lines={8} />}
      {found.isError && <Failure error={found.error} onRetry={() => found.refetch()} />}
      {found.isSuccess && (
        <>
          <Provenance metadata={found.data.metadata} />
          <Section
            title={plural(found.data.text.length, "character")}
            actions={
              <>
                {hasNeighbours(found.data.metadata) && (
                  <Button size="s" variant="ghost" aria-pressed={around} onClick={() => setAround(!around)}>
                    Neighbours
                  </Button>
                )}
                <CopyButton text={found.data.text} label="Copy text" />
              </>
            }
          >
            {around ? (
              <Neighbours store={store.name} metadata={found.data.metadata} text={found.data.text} />
            ) : (
              <p className={styles.text}>
                <Highlighted segments={highlight(found.data.text, query)} />
              </p>
            )}
          </Section>
          <Section title="Metadata">
            <JsonView value={found.data.metadata} label="Metadata" maxHeight={320} />
          </Section>
          <Section title="Vector">
            {found.data.vector ? (
              <Vector vector={found.data.vector} />
            ) : (
              <p className={styles.none}>It has none.</p>
            )}
          </Section>
          {found.data.content.length > 1 && (
            <Section title={plural(found.data.content.length, "part")}>
              <JsonView value={found.data.content} label="Parts" expand={1} maxHeight={320} />
            </Section>
          )}
          <dl className={styles.hashes}>
            <dt>Text hash</dt>
            <dd>
              <code>{found.data.textHash}</code>
            </dd>
            <dt>Metadata hash</dt>
            <dd>
              <code>{found.data.metadataHash}</code>
            </dd>
          </dl>
        </>
      )}
    </aside>
  )
}

/** The first values as bars from the middle, so that sign and size are seen. */
function Vector({ vector }: { vector: VectorData }) {
  const most = Math.max(1e-9, ...vector.first.map(Math.abs))
  return (
    <div className={styles.vector}>
      <p>
        {count(vector.dimension)} dimensions, norm {vector.norm.toFixed(4)}
      </p>
      <ol aria-label="First values">
        {vector.first.map((value, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: values have no other name than their place
          <li key={at}>
            <span className={styles.value}>{value.toFixed(4)}</span>
            <span className={styles.track} aria-hidden>
              <span
                style={{
                  left: `${value < 0 ? 50 - (Math.abs(value) / most) * 50 : 50}%`,
                  width: `${(Math.abs(value) / most) * 50}%`,
                }}
              />
            </span>
          </li>
        ))}
      </ol>
      {vector.dimension > vector.first.length && (
        <p className={styles.none}>and {count(vector.dimension - vector.first.length)} more</p>
      )}
    </div>
  )
}
