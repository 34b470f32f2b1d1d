/** Documents that retrievers and rerankers of two runs found: how many both have, and which moved. */
import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { keys } from "@/api/queries"
import { Provenance } from "@/components/documents/Provenance"
import { Failure } from "@/components/ui/Failure"
import { Section } from "@/components/ui/Section"
import { Skeleton } from "@/components/ui/Skeleton"
import table from "@/components/ui/table.module.css"
import { fetchValue } from "@/features/trace/details/useValue"
import type { TraceNode } from "@/features/trace/model/tree"
import { classes } from "@/lib/classes"
import { documentsOf } from "@/lib/documents"
import { plural } from "@/lib/format"
import styles from "./ComparePage.module.css"
import { aligned, type Move, moves, overlap } from "./model"
import type { Side } from "./useSide"

const MOST_PAIRS = 10
const MOST_BYTES = 500_000
const SHOWN = 120

interface FoundProps {
  a: Side
  b: Side
  only: boolean
}

export function Found({ a, b, only }: FoundProps) {
  const pairs = useMemo(
    () =>
      aligned(a.tree, b.tree)
        .filter((pair) => finds(pair.a) && finds(pair.b))
        .slice(0, MOST_PAIRS),
    [a.tree, b.tree],
  )
  return pairs.map(
    (pair) =>
      pair.a !== undefined &&
      pair.b !== undefined && (
        <Documents key={pair.b.span.id} idA={a.id} idB={b.id} nodeA={pair.a} nodeB={pair.b} only={only} />
      ),
  )
}

function finds(node: TraceNode | undefined): boolean {
  const span = node?.span
  return (
    (span?.kind === "retriever" || span?.kind === "reranker") &&
    span.state === "success" &&
    span.outputBytes <= MOST_BYTES
  )
}

interface DocumentsProps {
  idA: string
  idB: string
  nodeA: TraceNode
  nodeB: TraceNode
  only: boolean
}

function Documents({ idA, idB, nodeA, nodeB, only }: DocumentsProps) {
  const query = useQuery({
    queryKey: [...keys.trace(idA), "found", nodeA.span.id, idB, nodeB.span.id],
    queryFn: async ({ signal }) => {
      const [before, after] = await Promise.all([
        fetchValue(idA, nodeA.span, "output", signal),
        fetchValue(idB, nodeB.span, "output", signal),
      ])
      return moves(documentsOf(before), documentsOf(after))
    },
  })
  const title = `Documents of ${nodeB.span.name}`
  if (query.isError) return <Failure error={query.error} onRetry={query.refetch} />
  if (query.isPending) return <Skeleton lines={4} />
  const both = overlap(query.data)
  const rows = only ? query.data.filter((move) => move.before !== move.after) : query.data
  if (both === undefined || (only && rows.length === 0)) return null
  return (
    <Section
      title={title}
      actions={
        <span className={styles.overlap}>
          {Math.round(both * 100)} % of {plural(query.data.length, "document")} in both
        </span>
      }
    >
      <table className={table.table} aria-label={title}>
        <thead>
          <tr>
            <th className={table.num}>A</th>
            <th className={table.num}>B</th>
            <th className={table.num}>Moved</th>
            <th>Document</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((move) => (
            <tr key={move.hit.key}>
              <td className={table.num}>{move.before ?? "—"}</td>
              <td className={table.num}>{move.after ?? "—"}</td>
              <td className={classes(table.num, movedClass(move))}>{movedText(move)}</td>
              <td className={styles.document}>
                <Provenance metadata={move.hit.metadata} />
                <span>{move.hit.text.slice(0, SHOWN)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  )
}

function movedText({ before, after }: Move): string {
  if (before === undefined) return "new"
  if (after === undefined) return "gone"
  if (before === after) return "="
  return before > after ? `↑ ${before - after}` : `↓ ${after - before}`
}

function movedClass({ before, after }: Move): string | undefined {
  if (before === after) return undefined
  if (after === undefined || (before !== undefined && before < after)) return styles.more
  return styles.less
}
