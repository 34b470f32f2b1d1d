/** How far an indexing is, stage by stage. */
import { Check, LoaderCircle, Square } from "lucide-react"
import { Button } from "@/components/ui/Button"
import { count, duration, plural } from "@/lib/format"
import { pace } from "./batches"
import type { Progress, Stage } from "./indexing"
import styles from "./Stages.module.css"
import type { Indexing } from "./useIndexing"

const ORDER: Stage[] = ["read", "split", "embed", "store"]

export function Stages({ job }: { job: Indexing }) {
  const progress = job.progress
  if (progress === undefined) return null
  const total = progress.chunks ?? 0
  const done = progress.marks.at(-1)?.done ?? 0
  const { perSecond, etaMs } = pace(progress.marks, total)
  const running = job.state === "running"
  return (
    <section className={styles.stages} aria-label="Progress" data-state={job.state}>
      <ol className={styles.steps}>
        {ORDER.map((stage) => {
          const state = stateOf(stage, progress, running)
          return (
            <li key={stage} className={styles.step} data-stage={stage} data-state={state}>
              <span className={styles.sign}>
                {state === "running" && <LoaderCircle aria-hidden size={13} className={styles.turn} />}
                {state === "done" && <Check aria-hidden size={13} />}
              </span>
              <span>
                <span className={styles.name}>{NAMES[stage]}</span>
                <span className={styles.told}>{told(stage, progress)}</span>
              </span>
            </li>
          )
        })}
      </ol>
      <div
        className={styles.bar}
        role="progressbar"
        aria-label="Chunks done"
        aria-valuemin={0}
        aria-valuemax={total}
        {...(total === 0 ? {} : { "aria-valuenow": done })}
      >
        <span style={{ width: `${total === 0 ? 0 : (done / total) * 100}%` }} />
      </div>
      <div className={styles.foot}>
        <span>
          {count(done)} of {plural(total, "chunk")}
          {perSecond > 0 && ` · ${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)} per second`}
          {running && etaMs !== undefined && done < total && ` · about ${duration(etaMs)} left`}
        </span>
        {running && (
          <Button size="s" icon={<Square aria-hidden />} onClick={job.cancel}>
            Cancel
          </Button>
        )}
      </div>
    </section>
  )
}

const NAMES: Record<Stage, string> = { read: "Load", split: "Split", embed: "Embed", store: "Store" }

function stateOf(stage: Stage, progress: Progress, running: boolean): "waiting" | "running" | "done" {
  if (progress.stage === "done") return "done"
  const cut = progress.chunks !== undefined
  if (stage === "read" || stage === "split") {
    if (cut) return "done"
    return stage === "read" && running ? "running" : "waiting"
  }
  return cut && running ? "running" : "waiting"
}

function told(stage: Stage, progress: Progress): string {
  switch (stage) {
    case "read":
      return progress.characters === undefined ? "" : plural(progress.characters, "character")
    case "split":
      return progress.chunks === undefined ? "" : plural(progress.chunks, "chunk")
    case "embed":
      return progress.chunks === undefined
        ? ""
        : `${count(progress.embedded)} new${progress.cached > 0 ? `, ${count(progress.cached)} from the cache` : ""}`
    case "store":
      return progress.chunks === undefined
        ? ""
        : `${count(progress.stored)} written${progress.unchanged > 0 ? `, ${count(progress.unchanged)} there` : ""}`
  }
}
