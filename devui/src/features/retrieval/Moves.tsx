/** What a reranker has changed: the candidates, their new order, and the way of each document between them. */
import { useState } from "react"
import type { useFinished } from "@/api/runToEnd"
import type { ActionData, RunInfo } from "@/api/schema"
import { TraceLink } from "@/components/TraceLink"
import { documentsOf } from "@/lib/documents"
import { duration, plural } from "@/lib/format"
import { climb, moves } from "@/lib/ranks"
import { RankLines } from "./RankLines"
import { ResultCard } from "./ResultCard"
import { modeOf, ScaleNote } from "./ResultList"
import styles from "./RetrievalBench.module.css"
import { scaleOf } from "./scale"

type MovesProps = {
  action: ActionData
  retriever: ActionData | undefined
  mode: Record<string, unknown>
  query: string
  /** How many candidates. */
  asked: number
  before: ReturnType<typeof useFinished>["data"]
  after: NonNullable<ReturnType<typeof useFinished>["data"]>
  stale: boolean
}

export function Moves({ action, retriever, mode, query, asked, before, after, stale }: MovesProps) {
  const [lit, setLit] = useState<string>()
  const [chosen, setChosen] = useState<string>()
  const ranked = documentsOf(after.result, { reranked: true })
  // Texts of one's own were given with their place as the id.
  const candidates =
    before === undefined
      ? [...ranked].sort((a, b) => Number(a.id) - Number(b.id))
      : documentsOf(before.result).slice(0, asked)
  const scaleBefore = scaleOf(
    candidates.map((hit) => hit.score),
    retriever && modeOf(retriever, mode),
  )
  const scaleAfter = scaleOf(
    ranked.map((hit) => hit.rerankScore),
    undefined,
  )
  const all = moves(
    candidates.map((hit) => hit.key),
    ranked.map((hit) => hit.key),
  )
  const moved = all.filter((move) => (climb(move) ?? 1) !== 0).length
  const hit = ranked.find((each) => each.key === chosen)
  return (
    <section className={styles.results} aria-label="Ranks before and after" data-stale={stale || undefined}>
      <div className={styles.summary}>
        <b>{plural(ranked.length, "document")}</b>
        <span>{moved} moved</span>
        {before && <Timed name="search" run={before.run} />}
        <Timed name="rerank" run={after.run} />
      </div>
      <RankLines
        before={{
          title: retriever?.name ?? "As they were given",
          hits: candidates,
          score: (each) => each.score,
          scale: scaleBefore,
          note: <ScaleNote scale={scaleBefore} />,
        }}
        after={{
          title: action.name,
          hits: ranked,
          score: (each) => each.rerankScore,
          scale: scaleAfter,
          note: <ScaleNote scale={scaleAfter} />,
        }}
        query={query}
        lit={lit}
        onPoint={setLit}
        chosen={chosen}
        onChoose={(key) => setChosen(key === chosen ? undefined : key)}
      />
      {hit !== undefined && (
        <ol className={styles.cards} aria-label="Chosen document">
          <ResultCard
            key={hit.key}
            hit={hit}
            rank={ranked.indexOf(hit) + 1}
            score={hit.rerankScore}
            query={query}
            scale={scaleAfter}
            store={retriever?.index?.name}
          />
        </ol>
      )}
    </section>
  )
}

function Timed({ name, run }: { name: string; run: RunInfo }) {
  return (
    <>
      <span>
        {name} {duration(run.durationMs)}
      </span>
      {run.traceId && <TraceLink traceId={run.traceId}>Trace of the {name}</TraceLink>}
    </>
  )
}
