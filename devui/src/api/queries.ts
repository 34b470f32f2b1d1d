/**
 * Queries that several pages share: their keys, and how to ask. A page's own queries are in its folder.
 *
 *     const { data } = useQuery(actionsQuery)
 */
import { QueryClient, queryOptions } from "@tanstack/react-query"
import { api, ask, OfflineError } from "./client"

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Events say what has changed; nothing is asked twice because a window was looked at.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      retry: (count, error) => error instanceof OfflineError && count < 2,
    },
  },
})

export const keys = {
  actions: ["actions"] as const,
  /** What is told of the app that runs; the list of its processes itself comes with the events. */
  runtimes: ["runtimes"] as const,
  /** Lists of traces, by their filters. */
  summaries: ["summaries"] as const,
  trace: (id: string) => ["trace", id] as const,
  inputs: (key: string) => ["inputs", key] as const,
  logs: ["logs"] as const,
  settings: ["settings"] as const,
  stores: ["stores"] as const,
  uploads: ["uploads"] as const,
}

export const actionsQuery = queryOptions({
  queryKey: keys.actions,
  queryFn: ({ signal }) => ask(api.GET("/api/actions", { signal })),
})

export const settingsQuery = queryOptions({
  queryKey: keys.settings,
  queryFn: ({ signal }) => ask(api.GET("/api/settings", { signal })),
})
