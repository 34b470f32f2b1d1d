/** What `flowkit start` says about itself and the file that it runs. */
import { queryOptions } from "@tanstack/react-query"
import { request } from "./client"
import { keys } from "./queries"

interface ServerStatus {
  /** As it was given to `flowkit start`: a file or a module. */
  app?: string
  url: string
  root: string
  python: string
  version: string
}

/** Under the key of the runtimes, so that it is asked again when another app runs. */
export const statusQuery = queryOptions({
  queryKey: [...keys.runtimes, "status"],
  queryFn: async ({ signal }) => (await (await request("/api/status", { signal })).json()) as ServerStatus,
})
