/** Two lists of hits beside each other: what they share, how ranks differ, what only one of them has. */
import { useState } from "react"
import type { Finished } from "@/api/runToEnd"
import type { ActionData } from "@/api/schema"
import { TraceLink } from "@/components/TraceLink"
import { Badge } from "@/components/ui/Badge"
import { Failure } from "@/components/ui/Failure"
import { Skeleton } from "@/components/ui/Skeleton"
import type { Hit } from "@/lib/documents"
import { duration, plural } from "@/lib/format"
import { overlap, ranks } from "@/lib/ranks"
import { MoveBadge } from "./MoveBadge"
import { ResultCard } from "./ResultCard"
import { modeOf, ScaleNote } from "./ResultList"
import styles from "./RetrievalBench.module.css"
import { scaleOf } from "./scale"

type Side = {
  action: ActionData
  options: Record<string, unknown>
  finished: Finished | undefined
  hits: Hit[] | undefined
  error?: unknown
}

export function CompareView({
  query,
  left,
  right,
  stale,
}: {
  query: string
  left: Side
  right: Side
  stale: boolean
}) {
  const [lit, setLit] = useState<string>()
  const keys = (side: Side) => side.hits?.map((hit) => hit.key) ?? []
  const both = overlap(keys(left), keys(right))
  return (
    <section
      className={styles.results}
      aria-label="Comparison"
      data-stale={stale || undefined}
      aria-busy={stale}
    >
      {right.hits !== undefined && (
        <div className={styles.summary} data-part="overlap">
          <b>
            {both.both} of {both.both + both.onlyLeft + both.onlyRight} shared
          </b>
          <span>{both.onlyLeft} only left</span>
          <span>{both.onlyRight} only right</span>
          {both.both > 0 && <span>mean shift {plural(Number(both.meanShift.toFixed(1)), "place")}</span>}
          <span className={styles.meter} aria-hidden>
            <span style={{ flexGrow: both.onlyLeft }} data-part="left" />
            <span style={{ flexGrow: both.both }} data-part="both" />
            <span style={{ flexGrow: both.onlyRight }} data-part="right" />
          </span>
        </div>
      )}
      <div className={styles.columns}>
        <Column side={left} other={right} name="left" {...{ query, lit, setLit }} />
        <Column side={right} other={left} name="right" {...{ query, lit, setLit }} />
      </div>
    </section>
  )
}

type ColumnProps = {
  side: Side
  other: Side
  name: "left" | "right"
  query: string
  lit: string | undefined
  setLit: (key: string | undefined) => void
}

function Column({ side, other, name, query, lit, setLit }: ColumnProps) {
  const mode = modeOf(side.action, side.options)
  const hits = side.hits ?? []
  const scale = scaleOf(
    hits.map((hit) => hit.rerankScore ?? hit.score),
    mode,
  )
  const there = other.hits === undefined ? undefined : ranks(other.hits.map((hit) => hit.key))
  return (
    <div className={styles.column} data-side={name}>
      <div className={styles.columnHead}>
        <h2 className={styles.columnName}>{side.action.name}</h2>
        {mode !== undefined && <Badge tone="accent">{mode}</Badge>}
        {side.finished !== undefined && <span>{duration(side.finished.run.durationMs)}</span>}
        {side.finished?.run.traceId && <TraceLink traceId={side.finished.run.traceId}>Trace</TraceLink>}
        {hits.length > 0 && <ScaleNote scale={scale} />}
      </div>
      {side.error ? <Failure error={side.error} /> : side.hits === undefined && <Skeleton lines={6} />}
      {side.hits?.length === 0 && <p className={styles.nothing}>Nothing found</p>}
      <ol className={styles.cards}>
        {hits.map((hit, at) => (
          <ResultCard
            // biome-ignore lint/suspicious/noArrayIndexKey: the order is what is shown
            key={`${hit.key}-${at}`}
            compact
            hit={hit}
            rank={at + 1}
            score={hit.rerankScore ?? hit.score}
            query={query}
            scale={scale}
            store={side.action.index?.name}
            lit={lit === hit.key}
            onPoint={setLit}
            note={there && <Elsewhere rank={at} there={there.get(hit.key)} />}
          />
        ))}
      </ol>
    </div>
  )
}

function Elsewhere({ rank, there }: { rank: number; there: number | undefined }) {
  return there === undefined ? (
    <Badge tone="warn">only here</Badge>
  ) : (
    <MoveBadge climb={there - rank} title={`Rank ${there + 1} on the other side`} />
  )
}
