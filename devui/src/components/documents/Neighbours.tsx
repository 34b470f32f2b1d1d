/** The chunks before and after a chunk, out of its vector store. */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask } from "@/api/client"
import { keys } from "@/api/queries"
import { Button } from "@/components/ui/Button"
import { Failure } from "@/components/ui/Failure"
import { Skeleton } from "@/components/ui/Skeleton"
import { type Metadata, placeOf } from "@/lib/documents"
import { condition } from "@/lib/filterText"
import styles from "./documents.module.css"

/** Whether the metadata tells where neighbours are. */
export function hasNeighbours(metadata: Metadata): boolean {
  const place = placeOf(metadata)
  return place.source !== undefined && place.index !== undefined
}

export function Neighbours({ store, metadata, text }: { store: string; metadata: Metadata; text: string }) {
  const [radius, setRadius] = useState(1)
  const place = placeOf(metadata)
  const index = place.index ?? 0
  const where = [
    condition("source", "=", place.source ?? ""),
    condition("index", ">=", Math.max(0, index - radius)),
    condition("index", "<=", index + radius),
  ].join(" AND ")
  const found = useQuery({
    queryKey: [...keys.stores, "documents", store, where],
    queryFn: ({ signal }) =>
      ask(api.GET("/api/stores/documents", { params: { query: { store, where, limit: 50 } }, signal })),
  })
  if (found.isPending) return <Skeleton lines={3} />
  if (found.isError) return <Failure error={found.error} onRetry={() => found.refetch()} />
  const at = (document: { metadata: Metadata }) => placeOf(document.metadata).index ?? -1
  const documents = [...found.data.documents].sort((a, b) => at(a) - at(b))
  const before = documents.filter((document) => at(document) < index)
  const after = documents.filter((document) => at(document) > index)
  return (
    <div className={styles.neighbours}>
      {before.length === 0 && <p className={styles.edge}>The source begins here</p>}
      {before.map((document) => (
        <Neighbour key={document.id} number={at(document)} text={document.text} what="before" />
      ))}
      <Neighbour number={index} text={text} what="this" />
      {after.map((document) => (
        <Neighbour key={document.id} number={at(document)} text={document.text} what="after" />
      ))}
      {after.length === 0 && <p className={styles.edge}>The source ends here</p>}
      {documents.length > 2 * radius - 1 && radius < 8 && (
        <Button size="s" variant="ghost" onClick={() => setRadius(radius + 1)}>
          Show more around it
        </Button>
      )}
    </div>
  )
}

function Neighbour({
  number,
  text,
  what,
}: {
  number: number
  text: string
  what: "before" | "this" | "after"
}) {
  const name = { before: "Chunk before", this: "This chunk", after: "Chunk after" }[what]
  return (
    <div className={styles.neighbour} data-neighbour={what}>
      <span className={styles.neighbourNumber} title={name}>
        {number}
      </span>
      <p className={styles.neighbourText}>{text}</p>
    </div>
  )
}
