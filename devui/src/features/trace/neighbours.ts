/**
 * The trace before or after one, by its start.
 *
 *     const id = await neighbour(summary, "older")
 */
import { api, ask } from "@/api/client"
import type { Summary } from "@/api/schema"

const PAGE = 1000
/** No more is kept by default. */
const PAGES = 10

export async function neighbour(summary: Summary, direction: "older" | "newer"): Promise<string | undefined> {
  const at = summary.startTimeMs
  const { internal } = summary
  if (direction === "older") {
    const until = new Date(Math.floor(at) + 1).toISOString()
    const { traces } = await ask(
      api.GET("/api/traces/summaries", { params: { query: { until, internal, limit: 50 } } }),
    )
    return traces.find((trace) => isOlder(trace, summary))?.traceId
  }
  // The list begins with the newest: the one that is wanted is at its end.
  const since = new Date(Math.floor(at)).toISOString()
  let found: string | undefined
  let cursor: string | undefined
  for (let page = 0; page < PAGES; page++) {
    const query = { since, internal, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }
    const answer = await ask(api.GET("/api/traces/summaries", { params: { query } }))
    found = answer.traces.findLast((trace) => isOlder(summary, trace))?.traceId ?? found
    if (answer.cursor == null) break
    cursor = answer.cursor
  }
  return found
}

function isOlder(a: Summary, b: Summary): boolean {
  return a.startTimeMs < b.startTimeMs || (a.startTimeMs === b.startTimeMs && a.traceId < b.traceId)
}
