/** The spans of two runs in pairs, with what changed in time and tokens. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { useMemo, useRef } from "react"
import { KindIcon } from "@/components/KindIcon"
import { StatusIcon } from "@/components/StatusTag"
import { TraceLink } from "@/components/TraceLink"
import { tookOf } from "@/features/trace/model/span"
import { classes } from "@/lib/classes"
import { count, duration } from "@/lib/format"
import styles from "./ComparePage.module.css"
import { aligned, differs, type Pair, tokensIn } from "./model"
import type { Side } from "./useSide"

const ROW = 26
const INDENT = 12
const DEEPEST = 5

interface SpanTableProps {
  a: Side
  b: Side
  only: boolean
}

export function SpanTable({ a, b, only }: SpanTableProps) {
  const scroll = useRef<HTMLElement>(null)
  const pairs = useMemo(() => aligned(a.tree, b.tree), [a.tree, b.tree])
  const rows = useMemo(() => (only ? pairs.filter(differs) : pairs), [pairs, only])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW,
    overscan: 10,
  })
  if (rows.length === 0) return <p className={styles.same}>All {count(pairs.length)} spans are alike.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what is scrolled can be reached by keys
    <section ref={scroll} className={styles.spans} aria-label="Spans of both" tabIndex={0}>
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr className={styles.headRow}>
            <th>Span</th>
            <th>A</th>
            <th>B</th>
            <th>Δ time</th>
            <th>Tokens A</th>
            <th>Tokens B</th>
            <th>Δ tokens</th>
          </tr>
        </thead>
        <tbody style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const pair = rows[item.index]
            return (
              pair && (
                <Row key={item.key} pair={pair} top={item.start} at={item.index} idA={a.id} idB={b.id} />
              )
            )
          })}
        </tbody>
      </table>
    </section>
  )
}

interface RowProps {
  pair: Pair
  top: number
  at: number
  idA: string
  idB: string
}

function Row({ pair, top, at, idA, idB }: RowProps) {
  const { a, b, depth } = pair
  const node = b ?? a
  if (node === undefined) return null
  const one = a === undefined ? "B" : b === undefined ? "A" : undefined
  return (
    <tr
      aria-rowindex={at + 2}
      data-pair={one === undefined ? "both" : `only ${one}`}
      className={classes(styles.spanRow, one === "A" && styles.gone, one === "B" && styles.added)}
      style={{ transform: `translateY(${top}px)` }}
    >
      <td className={styles.spanName} style={{ paddingLeft: 4 + Math.min(depth, DEEPEST) * INDENT }}>
        <KindIcon kind={node.span.label} labelled />
        <TraceLink traceId={b === undefined ? idA : idB} spanId={node.span.id}>
          {node.span.name}
        </TraceLink>
        {one !== undefined && <em>only in {one}</em>}
        {a?.span.state !== b?.span.state && one === undefined && (
          <>
            <StatusIcon status={a?.span.state} /> → <StatusIcon status={b?.span.state} />
          </>
        )}
      </td>
      <td>{told(tookOf(a?.span), duration)}</td>
      <td>{told(tookOf(b?.span), duration)}</td>
      <Change a={tookOf(a?.span)} b={tookOf(b?.span)} show={duration} noticed={differs(pair)} />
      <td>{told(tokensIn(a), count)}</td>
      <td>{told(tokensIn(b), count)}</td>
      <Change a={tokensIn(a)} b={tokensIn(b)} show={count} noticed />
    </tr>
  )
}

function told(value: number | undefined, show: (value: number) => string): string {
  return value === undefined ? "—" : show(value)
}

interface ChangeProps {
  a: number | undefined
  b: number | undefined
  show: (value: number) => string
  noticed: boolean
}

/** More is worse: red, less is green; with a sign, so that the colour is not all. */
function Change({ a, b, show, noticed }: ChangeProps) {
  if (a === undefined || b === undefined) return <td>—</td>
  const change = b - a
  const shown = show(Math.abs(change))
  const sign = change > 0 ? "+" : change < 0 ? "−" : "±"
  return (
    <td className={classes(noticed && change > 0 && styles.more, noticed && change < 0 && styles.less)}>
      {sign}
      {shown}
    </td>
  )
}
