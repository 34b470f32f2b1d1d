/**
 * One page of the list, and what is new since it was asked for.
 *
 *     const list = useTraceList(search, follow)
 *     list.fresh      // 3: they are in the store, but not in the list yet
 */
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query"
import { useCallback, useEffect, useMemo, useRef, useState } from "react"
import { api, ask } from "@/api/client"
import { useEvents } from "@/api/live"
import { keys } from "@/api/queries"
import { belongs, queryOf, type Search } from "./filter"

const PAGE = 50
/** More are not counted. */
const MOST_FRESH = 500
const FOLLOW_MS = 400

const summariesQuery = (search: Search) =>
  queryOptions({
    queryKey: [...keys.summaries, "page", search],
    queryFn: ({ signal }) =>
      ask(
        api.GET("/api/traces/summaries", {
          params: { query: { ...queryOf(search, Date.now()), limit: PAGE } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  })

export function useTraceList(search: Search, follow: boolean) {
  const query = useQuery(summariesQuery(search))
  const { data, refetch } = query
  /** Seen since, with their starts. */
  const [seen, setSeen] = useState<ReadonlyMap<string, number>>(new Map())
  const held = useRef(seen)
  // React keeps an update that changes nothing until the next one that does, so none is made.
  const hold = useCallback((now: ReadonlyMap<string, number>) => {
    held.current = now
    setSeen(now)
  }, [])
  const first = search.cursor === undefined

  // biome-ignore lint/correctness/useExhaustiveDependencies: another list has another count
  useEffect(() => hold(new Map()), [search, hold])

  useEvents("trace", ({ trace }) => {
    if (!trace || !first || !belongs(trace, search, Date.now())) return
    if (data?.traces.some((one) => one.traceId === trace.traceId) !== false) return
    const before = held.current
    if (before.has(trace.traceId) || before.size >= MOST_FRESH) return
    hold(new Map(before).set(trace.traceId, trace.startTimeMs))
  })

  const fresh = useMemo(() => {
    const traces = data?.traces ?? []
    const known = new Set(traces.map((trace) => trace.traceId))
    // What is older than a full page belongs on a later one.
    const oldest = traces.length < PAGE ? Number.NEGATIVE_INFINITY : (traces.at(-1)?.startTimeMs ?? 0)
    return [...seen].filter(([id, start]) => !known.has(id) && start >= oldest).length
  }, [seen, data])

  const again = useCallback(async () => {
    await refetch()
    hold(new Map())
  }, [refetch, hold])

  const waiting = follow && fresh > 0
  useEffect(() => {
    if (!waiting) return
    const timer = setTimeout(again, FOLLOW_MS)
    return () => clearTimeout(timer)
  }, [waiting, again])

  return {
    traces: data?.traces ?? [],
    cursor: data?.cursor ?? undefined,
    skipped: data?.skipped ?? 0,
    fresh: follow ? 0 : fresh,
    loading: query.isPending,
    /** What is shown is of another filter, until this one's answer is there. */
    old: query.isPlaceholderData,
    error: query.error,
    refetch: again,
  }
}
