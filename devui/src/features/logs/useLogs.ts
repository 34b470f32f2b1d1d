/** Log records, newest first: pages of the server, and before them what has come since. */
import { useInfiniteQuery } from "@tanstack/react-query"
import { useEffect, useMemo, useState } from "react"
import { api, ask } from "@/api/client"
import { useEvents } from "@/api/live"
import { keys } from "@/api/queries"
import type { LogData } from "@/api/schema"
import { fits, type LogFilter, lowest } from "./levels"

const PAGE = 200
/** So many new ones are kept; what is older is asked of the server again. */
const MOST = 2_000

export function useLogs(filter: LogFilter, live: boolean) {
  const { level, q, traceId, spanId } = filter
  const query = {
    limit: PAGE,
    ...(lowest(level) === undefined ? {} : { severityNumber: lowest(level) as number }),
    ...(q === "" ? {} : { q }),
    ...(traceId === undefined ? {} : { traceId }),
    ...(spanId === undefined ? {} : { spanId }),
  }
  const pages = useInfiniteQuery({
    queryKey: [...keys.logs, "page", query],
    queryFn: ({ signal, pageParam }) =>
      ask(
        api.GET("/api/logs", {
          params: { query: { ...query, ...(pageParam === "" ? {} : { continuationToken: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.continuationToken ?? undefined,
  })
  const [fresh, setFresh] = useState<readonly LogData[]>([])
  const [waiting, setWaiting] = useState<readonly LogData[]>([])

  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter, or pages asked anew: nothing has come since
  useEffect(() => {
    setFresh([])
    setWaiting([])
  }, [level, q, traceId, spanId, pages.dataUpdatedAt])

  useEvents("log", ({ log }) => {
    const record = log as unknown as LogData
    if (!fits(record, filter)) return
    const add = (now: readonly LogData[]) => [record, ...now].slice(0, MOST)
    if (live) setFresh(add)
    else setWaiting(add)
  })
  const showWaiting = () => {
    setFresh((now) => [...waiting, ...now].slice(0, MOST))
    setWaiting([])
  }
  const logs = useMemo(() => {
    const seen = new Set<string>()
    return [...fresh, ...(pages.data?.pages ?? []).flatMap((page) => page.logs)].filter(
      (log) => !seen.has(log.logId) && seen.add(log.logId),
    )
  }, [fresh, pages.data])
  return { logs, pages, waiting: waiting.length, showWaiting }
}
