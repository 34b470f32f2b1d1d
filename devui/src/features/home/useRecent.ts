/** The newest traces of some kind; asked again, not more often than three times a second, when there are new ones. */
import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { useEffect, useRef } from "react"
import { api, ask } from "@/api/client"
import { useEvents } from "@/api/live"
import { keys } from "@/api/queries"
import type { SummaryList } from "@/api/schema"

const PAUSE_MS = 350

export function useRecent(query: { limit: number; status?: "error" }): UseQueryResult<SummaryList> {
  const recent = useQuery({
    queryKey: [...keys.summaries, "recent", query],
    queryFn: ({ signal }) => ask(api.GET("/api/traces/summaries", { params: { query }, signal })),
  })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const { refetch } = recent
  useEffect(() => () => clearTimeout(timer.current), [])
  useEvents("trace", () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      void refetch()
    }, PAUSE_MS)
  })
  return recent
}
