/** The pinned queries: step through them, run all of them, and see at once which ones do badly. */
import { ChevronLeft, ChevronRight, Play, Square, X } from "lucide-react"
import { useRef, useState } from "react"
import { reason } from "@/api/client"
import { runToEnd } from "@/api/runToEnd"
import type { ActionData } from "@/api/schema"
import { Button, IconButton } from "@/components/ui/Button"
import { documentsOf, type Hit, placeOf } from "@/lib/documents"
import { duration } from "@/lib/format"
import { overlap } from "@/lib/ranks"
import { type Asked, inputOf, optionsOf } from "./options"
import { usePinned } from "./pinned"
import styles from "./QuerySet.module.css"
import { scoreText } from "./scale"

type Answer =
  | { run: string; ms: number | null; hits: Hit[]; run2?: string; hits2?: Hit[] }
  | { error: string }

type QuerySetProps = {
  action: ActionData
  draft: Asked
  other: { action: ActionData; options: Record<string, unknown> } | undefined
  current: string | undefined
  /** Show what a run of the set has found. */
  onOpen: (found: { q: string; run: string; run2: string | undefined }) => void
  onRun: (query: string) => void
}

export function QuerySet({ action, draft, other, current, onOpen, onRun }: QuerySetProps) {
  const [queries, pin] = usePinned()
  const [answers, setAnswers] = useState<Record<string, Answer>>({})
  const stop = useRef<AbortController | undefined>(undefined)
  const [running, setRunning] = useState<string>()
  const at = queries.indexOf(current ?? "")

  const show = (query: string | undefined) => {
    if (query === undefined) return
    const answer = answers[query]
    if (answer !== undefined && "run" in answer) onOpen({ q: query, run: answer.run, run2: answer.run2 })
    else onRun(query)
  }

  const runAll = async () => {
    const control = new AbortController()
    stop.current = control
    const { signal } = control
    setAnswers({})
    for (const q of queries) {
      if (signal.aborted) break
      setRunning(q)
      const asked = { ...draft, q }
      try {
        const [first, second] = await Promise.all([
          runToEnd(action.key, inputOf(optionsOf(action), asked), { signal }),
          other &&
            runToEnd(
              other.action.key,
              inputOf(optionsOf(other.action), { ...asked, options: other.options }),
              {
                signal,
              },
            ),
        ])
        const answer: Answer = {
          run: first.run.runId,
          ms: first.run.durationMs,
          hits: documentsOf(first.result).slice(0, draft.k),
          ...(second && { run2: second.run.runId, hits2: documentsOf(second.result).slice(0, draft.k) }),
        }
        setAnswers((before) => ({ ...before, [q]: answer }))
      } catch (error) {
        if (!signal.aborted)
          setAnswers((before) => ({
            ...before,
            [q]: { error: reason(error) },
          }))
      }
    }
    setRunning(undefined)
  }

  return (
    <aside className={styles.set} aria-label="Query set">
      <div className={styles.head}>
        <h2 className={styles.title}>Query set</h2>
        <IconButton
          label="Previous query"
          size="s"
          icon={<ChevronLeft aria-hidden />}
          disabled={at <= 0}
          onClick={() => show(queries[at - 1])}
        />
        <span className={styles.position}>
          {at < 0 ? `– / ${queries.length}` : `${at + 1} / ${queries.length}`}
        </span>
        <IconButton
          label="Next query"
          size="s"
          icon={<ChevronRight aria-hidden />}
          disabled={at + 1 >= queries.length}
          onClick={() => show(queries[at + 1])}
        />
        {running === undefined ? (
          <Button
            size="s"
            icon={<Play aria-hidden />}
            disabled={queries.length === 0}
            onClick={() => void runAll()}
          >
            Run all
          </Button>
        ) : (
          <Button size="s" icon={<Square aria-hidden />} onClick={() => stop.current?.abort()}>
            Stop
          </Button>
        )}
      </div>
      {queries.length === 0 && (
        <p className={styles.none}>
          Pin queries with the bookmark beside the query, to ask them again after a change.
        </p>
      )}
      <ol className={styles.list}>
        {queries.map((query) => (
          <li key={query} className={styles.item} data-current={query === current || undefined}>
            <button type="button" className={styles.open} onClick={() => show(query)}>
              <span className={styles.query}>{query}</span>
              <Told answer={answers[query]} running={running === query} />
            </button>
            <IconButton
              label={`Take out ${query}`}
              size="s"
              icon={<X aria-hidden />}
              onClick={() => pin(query, false)}
            />
          </li>
        ))}
      </ol>
    </aside>
  )
}

function Told({ answer, running }: { answer: Answer | undefined; running: boolean }) {
  if (running) return <span className={styles.told}>running…</span>
  if (answer === undefined) return null
  if ("error" in answer) return <span className={styles.failed}>{answer.error}</span>
  const best = answer.hits[0]
  if (best === undefined) return <span className={styles.failed}>nothing found</span>
  const place = placeOf(best.metadata)
  const where = [place.source, place.page === undefined ? undefined : `p. ${place.page}`]
    .filter(Boolean)
    .join(" ")
  const shared =
    answer.hits2 &&
    overlap(
      answer.hits.map((hit) => hit.key),
      answer.hits2.map((hit) => hit.key),
    )
  return (
    <span className={styles.told}>
      <b>{scoreText(best.rerankScore ?? best.score)}</b> {where} · {duration(answer.ms)}
      {shared && ` · ${shared.both} of ${answer.hits.length} shared`}
    </span>
  )
}
