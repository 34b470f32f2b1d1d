/**
 * A trace as far as it is known: from its outline, and from its stream while it runs.
 *
 *     const { tree, summary, running } = useTrace(traceId)
 */
import { queryOptions, useQuery } from "@tanstack/react-query"
import { useEffect, useMemo, useState } from "react"
import { ApiError, api, ask, OfflineError } from "@/api/client"
import { useEvents } from "@/api/live"
import { keys } from "@/api/queries"
import type { Summary } from "@/api/schema"
import { followTrace } from "./follow"
import { newer, type Span, spanOfOutline } from "./model/span"
import { type Tree, treeOf } from "./model/tree"

export const outlineQuery = (traceId: string) =>
  queryOptions({
    queryKey: [...keys.trace(traceId), "outline"],
    queryFn: ({ signal }) =>
      ask(api.GET("/api/traces/{trace_id}/outline", { params: { path: { trace_id: traceId } }, signal })),
    // A run that has just begun is in the store a moment later.
    retry: (count, error) =>
      count < 3 && (error instanceof OfflineError || (error instanceof ApiError && error.http === 404)),
    retryDelay: 250,
  })

export interface TraceState {
  tree: Tree
  summary: Summary | undefined
  running: boolean
  /** Spans that cannot be read. */
  skipped: number
  /** Nothing is known yet. */
  loading: boolean
  error: unknown
  retry: () => void
}

const NONE: ReadonlyMap<string, Span> = new Map()
const AGAIN_MS = 1000
/** A large tree is not laid out anew for each picture on the screen. */
const MANY = 1000
const FAST_MS = 16
const SLOW_MS = 150

/** `live`: it has just been started, and may not be in the store yet. */
export function useTrace(traceId: string, live = false): TraceState {
  const query = useQuery(outlineQuery(traceId))
  const { data, refetch } = query
  const [streamed, setStreamed] = useState(NONE)
  const running = live || data?.summary.status === "running"

  useEffect(() => {
    if (!running) return
    const abort = new AbortController()
    follow(traceId, abort.signal, (told) => {
      setStreamed((before) => merged(before, told))
    })
    return () => {
      abort.abort()
      // What came by the stream is not all there is of a span: sizes, for instance.
      refetch()
    }
  }, [traceId, running, refetch])

  useEvents("trace", ({ trace }) => {
    // Its end, spans that come late, or a trace that was not there when it was asked for.
    if (trace?.traceId === traceId && trace.status !== "running") refetch()
  })

  const outlined = useMemo(() => (data?.spans ?? []).map(spanOfOutline), [data])
  const tree = useMemo(() => treeOf(merged(streamed, outlined).values()), [streamed, outlined])
  const ended = running && tree.nodes.length > 0 && !tree.running
  useEffect(() => {
    // How it ended is in the summary, which the stream does not tell.
    if (ended) refetch()
  }, [ended, refetch])
  const missing = query.error instanceof ApiError && query.error.http === 404
  return {
    tree,
    summary: data?.summary,
    running: live || (running && tree.running),
    skipped: data?.skipped ?? 0,
    loading: tree.nodes.length === 0 && (query.isPending || (live && missing)),
    error: live && missing ? null : query.error,
    retry: refetch,
  }
}

function merged(before: ReadonlyMap<string, Span>, told: readonly Span[]): ReadonlyMap<string, Span> {
  if (told.length === 0) return before
  const spans = new Map(before)
  for (const span of told) spans.set(span.id, newer(spans.get(span.id), span))
  return spans
}

/** Tells what comes, some at a time; goes on by itself after a break. */
async function follow(
  traceId: string,
  signal: AbortSignal,
  tell: (spans: readonly Span[]) => void,
): Promise<void> {
  let waiting: Span[] = []
  let known = 0
  const flush = () => {
    const told = waiting
    waiting = []
    if (!signal.aborted) tell(told)
  }
  while (!signal.aborted) {
    try {
      for await (const spans of followTrace(traceId, signal)) {
        if (waiting.length === 0) setTimeout(flush, known > MANY ? SLOW_MS : FAST_MS)
        waiting.push(...spans)
        known += spans.length
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.http < 500) return
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
  }
}
