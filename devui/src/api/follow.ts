/**
 * One run, followed: its state as chunks and its end arrive. Chunks are told once for each frame of the screen, however
 * many there are.
 *
 *     const follower = new Follower()
 *     follower.subscribe(draw)
 *     await follower.start({ key: "/flow/menuQA", input: "What is vegan?" })
 */
import { ApiError, reason } from "@/api/client"
import { lines } from "@/api/lines"
import { cancelRun, failureOf, type RunRequest, startRun } from "@/api/runs"
import type { RunEvent, RunInfo } from "@/api/schema"

type RunStatus = "starting" | "running" | "success" | "error" | "cancelled" | "lost"

export interface RunState {
  /** undefined: nothing was run yet. */
  readonly status: RunStatus | undefined
  readonly run: RunInfo | undefined
  readonly chunks: readonly unknown[]
  /** The oldest chunks are no longer kept by the server. */
  readonly dropped: boolean
  readonly result: unknown
  readonly error: ApiError | undefined
}

const IDLE: RunState = {
  status: undefined,
  run: undefined,
  chunks: [],
  dropped: false,
  result: undefined,
  error: undefined,
}
const AGAIN_MS = 700
const FLUSH_MS = 30

/** All but the chunks, for what need not be drawn again with each of them. */
export type RunHead = Omit<RunState, "chunks"> & { readonly streams: boolean }

export class Follower {
  state: RunState = IDLE
  private head: RunHead = headOf(IDLE)
  private readonly watchers = new Set<() => void>()
  private abort: AbortController | undefined
  private waiting: unknown[] = []
  private frame: number | undefined
  private flushed = 0

  readonly subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher)
    return () => this.watchers.delete(watcher)
  }

  readonly snapshot = (): RunState => this.state

  /** The same object as long as only chunks come. */
  readonly headSnapshot = (): RunHead => this.head

  /** Begin a run; undefined when it was refused, and `state.error` says why. */
  async start(request: RunRequest): Promise<RunInfo | undefined> {
    this.leave()
    const abort = new AbortController()
    this.abort = abort
    this.set({ ...IDLE, status: "starting" })
    let run: RunInfo
    try {
      run = await startRun(request)
    } catch (error) {
      if (this.abort === abort) this.set({ ...IDLE, status: "error", error: asApiError(error) })
      return undefined
    }
    if (this.abort !== abort) return run
    this.set({ ...IDLE, status: "running", run })
    void this.follow(run.runId, abort.signal)
    return run
  }

  /** Take up a run that was started before: all of it is told again. */
  attach(run: RunInfo): void {
    if (this.state.run?.runId === run.runId && this.abort !== undefined) return
    this.leave()
    this.abort = new AbortController()
    this.set({ ...IDLE, status: "running", run })
    void this.follow(run.runId, this.abort.signal)
  }

  /** Show something that is over, a trace of the past for one. */
  show(state: Partial<RunState>): void {
    this.leave()
    this.set({ ...IDLE, ...state })
  }

  async cancel(): Promise<void> {
    const { run, status } = this.state
    if (run === undefined || run.runId === "" || status !== "running") return
    await cancelRun(run.runId)
  }

  /** Stop looking; the run goes on. */
  leave(): void {
    this.abort?.abort()
    this.abort = undefined
    this.waiting = []
    if (this.frame !== undefined) this.unschedule(this.frame)
    this.frame = undefined
  }

  private async follow(runId: string, signal: AbortSignal): Promise<void> {
    let after = -1
    let seen = false
    while (!signal.aborted) {
      try {
        for await (const event of lines<RunEvent>(`/api/runs/${runId}/events?after=${after}`, { signal })) {
          if (signal.aborted) return
          after = event.n
          seen = true
          if (this.take(event)) return
        }
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof ApiError && error.http === 404) {
          this.lost(seen)
          return
        }
      }
      if (signal.aborted) return
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }

  /** True at the end. */
  private take(event: RunEvent): boolean {
    switch (event.type) {
      case "started":
        this.set({ ...this.state, run: event.run ?? this.state.run })
        return false
      case "chunk":
        this.waiting.push(event.chunk)
        this.frame ??= this.schedule()
        return false
      case "dropped":
        this.set({ ...this.state, dropped: true })
        return false
      case "ended": {
        this.flush()
        const run = event.run ?? this.state.run
        const status = run?.status ?? "success"
        const error = event.error ? failureOf(event.error) : undefined
        this.set({
          ...this.state,
          run,
          status,
          result: event.result,
          error: status === "cancelled" ? undefined : error,
        })
        return true
      }
      default:
        return false
    }
  }

  private lost(seen: boolean): void {
    const hint = seen ? "its trace may have the rest" : "only the newest runs are kept; its trace is"
    const error = new ApiError("NOT_FOUND", "The server no longer knows this run", hint, [], 404)
    this.set({ ...this.state, status: "lost", error })
  }

  private flush(): void {
    if (this.frame !== undefined) this.unschedule(this.frame)
    this.frame = undefined
    if (this.waiting.length === 0) return
    const chunks = this.state.chunks.concat(this.waiting)
    this.waiting = []
    this.state = { ...this.state, chunks }
    if (!this.head.streams) this.head = headOf(this.state)
    this.tell()
  }

  // A page in the background draws no frames, and is told all the same.
  private schedule(): number {
    if (document.hidden) return window.setTimeout(() => this.flush(), 250)
    return requestAnimationFrame((now) => {
      // Every other frame stays free for what the reader does.
      if (now - this.flushed < FLUSH_MS) this.frame = this.schedule()
      else {
        this.flushed = now
        this.flush()
      }
    })
  }

  private unschedule(frame: number): void {
    cancelAnimationFrame(frame)
    clearTimeout(frame)
  }

  private set(state: RunState): void {
    this.state = state
    this.head = headOf(state)
    this.tell()
  }

  private tell(): void {
    for (const watcher of this.watchers) watcher()
  }
}

function headOf({ chunks, ...head }: RunState): RunHead {
  return { ...head, streams: chunks.length > 0 }
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError(
    "UNAVAILABLE",
    reason(error),
    "This page goes on when `flowkit start` runs again",
    [],
    0,
  )
}
