/** What a retriever has found, in its order. */
import { SearchX } from "lucide-react"
import type { ActionData, RunInfo } from "@/api/schema"
import { TraceLink } from "@/components/TraceLink"
import { Empty } from "@/components/ui/Empty"
import { Tooltip } from "@/components/ui/Tooltip"
import type { Hit } from "@/lib/documents"
import { duration, plural } from "@/lib/format"
import { ResultCard } from "./ResultCard"
import styles from "./RetrievalBench.module.css"
import { type Scale, scaleOf, scoreText } from "./scale"

type ResultListProps = {
  action: ActionData
  options: Record<string, unknown>
  query: string
  hits: readonly Hit[]
  run: RunInfo
  stale: boolean
  filtered: boolean
  onFilter: ((term: string) => void) | undefined
}

/** How the store has searched, where one is behind the action. */
export function modeOf(action: ActionData, options: Record<string, unknown>): string | undefined {
  return action.index ? (typeof options.mode === "string" ? options.mode : action.index.mode) : undefined
}

export function ResultList({
  action,
  options,
  query,
  hits,
  run,
  stale,
  filtered,
  onFilter,
}: ResultListProps) {
  const reranked = hits.length > 0 && hits.every((hit) => hit.rerankScore !== undefined)
  const shown = (hit: Hit) => (reranked ? hit.rerankScore : hit.score)
  const scale = scaleOf(hits.map(shown), reranked ? undefined : modeOf(action, options))
  return (
    <section
      className={styles.results}
      aria-label="Results"
      data-stale={stale || undefined}
      aria-busy={stale}
    >
      <div className={styles.summary}>
        <b>{plural(hits.length, "document")}</b>
        <span>{duration(run.durationMs)}</span>
        {hits.length > 0 && <ScaleNote scale={scale} name={reranked ? "rerank score" : undefined} />}
        {run.traceId && <TraceLink traceId={run.traceId}>Trace</TraceLink>}
      </div>
      {hits.length === 0 ? (
        <Empty
          icon={<SearchX aria-hidden />}
          title="Nothing found"
          text={
            filtered
              ? "No document meets the filter and the least score. Take the filter out to see what there is."
              : "The index may be empty, or no document reaches the least score."
          }
        />
      ) : (
        <ol className={styles.cards}>
          {hits.map((hit, at) => (
            <ResultCard
              // Two equal documents may be in one list.
              // biome-ignore lint/suspicious/noArrayIndexKey: the order is what is shown
              key={`${hit.key}-${at}`}
              hit={hit}
              rank={at + 1}
              score={shown(hit)}
              query={query}
              scale={scale}
              store={action.index?.name}
              note={reranked && <span className={styles.note}>search score {scoreText(hit.score)}</span>}
              onFilter={onFilter}
            />
          ))}
        </ol>
      )}
    </section>
  )
}

/** The scale of scores, told; what it means on pointing. */
export function ScaleNote({ scale, name }: { scale: Scale; name?: string | undefined }) {
  return (
    <Tooltip text={scale.explained}>
      <button type="button" className={styles.scale} data-part="scale">
        {name === undefined ? scale.label : `${name}: ${scale.label}`}
      </button>
    </Tooltip>
  )
}
