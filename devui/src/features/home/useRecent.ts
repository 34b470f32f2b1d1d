/** The newest traces of some kind; asked again, not more often than three times a second, when there are new ones. */
import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { api, ask } from "@/api/client"
import { useEvents } from "@/api/live"
import { keys } from "@/api/queries"
import type { SummaryList } from "@/api/schema"
import { useSoon } from "@/components/useSoon"

const PAUSE_MS = 350

export function useRecent(query: { limit: number; status?: "error" }): UseQueryResult<SummaryList> {
  const recent = useQuery({
    queryKey: [...keys.summaries, "recent", query],
    queryFn: ({ signal }) => ask(api.GET("/api/traces/summaries", { params: { query }, signal })),
  })
  const soon = useSoon(() => void recent.refetch(), PAUSE_MS)
  useEvents("trace", soon)
  return recent
}
