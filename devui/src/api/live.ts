/**
 * What happens in the app, as it happens: one stream for the page, told to the query cache and to who listens.
 *
 *     const { state, app, runs } = useLive()
 *     useEvents("log", (event) => append(event.log))
 */
import { useEffect, useRef, useSyncExternalStore } from "react"
import { applyEvent } from "./applyEvent"
import { lines } from "./lines"
import { keys, queryClient } from "./queries"
import type { AppState, DevEvent, RunInfo, RuntimeData } from "./schema"

export interface Live {
  /** Of the connection to the dev server. */
  state: "connecting" | "open" | "closed"
  /** When it was lost; ms since the epoch. */
  since: number | undefined
  app: AppState | undefined
  runtimes: readonly RuntimeData[]
  /** Those started in the UI, newest first. */
  runs: readonly RunInfo[]
}

type Handler = (event: DevEvent) => void

const SILENT_MS = 25_000
const FIRST_WAIT_MS = 300
const LONGEST_WAIT_MS = 5_000

let live: Live = { state: "connecting", since: undefined, app: undefined, runtimes: [], runs: [] }
let stop: AbortController | undefined
let wake: (() => void) | undefined
const watchers = new Set<() => void>()
const handlers = new Map<DevEvent["type"], Set<Handler>>()

function set(change: Partial<Live>): void {
  live = { ...live, ...change }
  for (const watcher of watchers) watcher()
}

/** Begin, once; it goes on until the page is left. */
export function startLive(): void {
  if (stop !== undefined) return
  stop = new AbortController()
  void follow(stop.signal)
  window.addEventListener("online", retryNow)
}

/** Do not wait for the next try. */
export function retryNow(): void {
  wake?.()
}

async function follow(signal: AbortSignal): Promise<void> {
  let wait = FIRST_WAIT_MS
  let again = false
  while (!signal.aborted) {
    const once = new AbortController()
    let silence: ReturnType<typeof setTimeout> | undefined
    const heard = () => {
      clearTimeout(silence)
      // The server says something every 15 s; a machine that has slept finds its stream dead.
      silence = setTimeout(() => once.abort(), SILENT_MS)
    }
    heard()
    try {
      for await (const event of lines<DevEvent>("/api/events", {
        signal: AbortSignal.any([signal, once.signal]),
      })) {
        heard()
        if (event.type === "hello") {
          wait = FIRST_WAIT_MS
          set({
            state: "open",
            since: undefined,
            app: event.app ?? undefined,
            runtimes: event.runtimes ?? [],
            runs: event.runs ?? [],
          })
          // What happened meanwhile is not told again.
          if (again) void queryClient.invalidateQueries()
          again = true
        }
        take(event)
      }
    } catch {
      // The server is away, or has ended the stream; it is tried again.
    } finally {
      clearTimeout(silence)
    }
    if (signal.aborted) return
    if (live.state !== "closed") set({ state: "closed", since: Date.now() })
    await pause(wait)
    wait = Math.min(wait * 1.6, LONGEST_WAIT_MS)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}

function take(event: DevEvent): void {
  if (event.type === "app" && event.app) set({ app: event.app })
  if (event.type === "runtimes" && event.runtimes) set({ runtimes: event.runtimes })
  if (event.type === "run" && event.run) set({ runs: withRun(live.runs, event.run) })
  if (event.type === "missed") void queryClient.invalidateQueries()
  applyEvent(queryClient, keys, event)
  for (const handler of handlers.get(event.type) ?? []) handler(event)
}

function withRun(runs: readonly RunInfo[], run: RunInfo): readonly RunInfo[] {
  const others = runs.filter((one) => one.runId !== run.runId)
  return [run, ...others].sort((a, b) => b.startTimeMs - a.startTimeMs).slice(0, 100)
}

/** The connection, the app and the runs; the component is drawn again when they change. */
export function useLive(): Live {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => live,
  )
}

/** Call `handler` for each event of a type, as long as the component is there. */
export function useEvents(type: DevEvent["type"], handler: Handler): void {
  const newest = useRef(handler)
  newest.current = handler
  useEffect(() => {
    const call: Handler = (event) => newest.current(event)
    const all = handlers.get(type) ?? new Set()
    handlers.set(type, all.add(call))
    return () => {
      all.delete(call)
    }
  }, [type])
}
