/**
 * The indexing of an action. It goes on while one looks at other pages, and is there again on the way back.
 *
 *     const job = useIndexing(action.key)
 *     void job.start({ action, body, source, replace: true })
 */
import { useSyncExternalStore } from "react"
import { keys, queryClient } from "@/api/queries"
import { indexSource, type Job, type Progress, type Report } from "./indexing"

type State = {
  state: "idle" | "running" | "done" | "failed" | "cancelled"
  /** What is, or was, written. */
  source: string
  progress: Progress | undefined
  report: Report | undefined
  error: unknown
}

export type Indexing = State & { start(job: Job): Promise<void>; cancel(): void }

const IDLE: State = { state: "idle", source: "", progress: undefined, report: undefined, error: undefined }
const states = new Map<string, State>()
const controls = new Map<string, AbortController>()
const listeners = new Set<() => void>()

function change(key: string, more: Partial<State>): void {
  states.set(key, { ...(states.get(key) ?? IDLE), ...more })
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

async function start(key: string, job: Job): Promise<void> {
  const control = new AbortController()
  controls.set(key, control)
  change(key, { ...IDLE, state: "running", source: job.source })
  try {
    const report = await indexSource(job, (progress) => change(key, { progress }), control.signal)
    change(key, { state: "done", report })
  } catch (error) {
    change(key, control.signal.aborted ? { state: "cancelled" } : { state: "failed", error })
  } finally {
    void queryClient.invalidateQueries({ queryKey: keys.stores })
  }
}

export function useIndexing(key: string): Indexing {
  const state = useSyncExternalStore(subscribe, () => states.get(key) ?? IDLE)
  return { ...state, start: (job) => start(key, job), cancel: () => controls.get(key)?.abort() }
}
