/**
 * What an event changes in the query cache. Rows that are shown change in place; nothing is put into a list under the
 * reader's eyes: lists are marked as old, and pages that want new rows listen themselves.
 *
 *     applyEvent(queryClient, keys, event)
 */
import type { QueryClient, QueryKey } from "@tanstack/react-query"
import type { ActionList, DevEvent, LastRunData, Summary, SummaryList } from "./schema"

interface Keys {
  actions: QueryKey
  runtimes: QueryKey
  summaries: QueryKey
  stores: QueryKey
  logs: QueryKey
  trace: (id: string) => QueryKey
  inputs: (key: string) => QueryKey
}

export function applyEvent(client: QueryClient, keys: Keys, event: DevEvent): void {
  const old = (queryKey: QueryKey) => void client.invalidateQueries({ queryKey, refetchType: "none" })
  const again = (queryKey: QueryKey) => void client.invalidateQueries({ queryKey })
  switch (event.type) {
    case "app":
      if (event.app?.state !== "running")
        client.setQueryData<ActionList>(keys.actions, (now) => now && { ...now, stale: true })
      break
    case "runtimes":
      again(keys.runtimes)
      again(keys.actions)
      again(keys.stores)
      break
    case "actions":
      again(keys.actions)
      again(keys.stores)
      break
    case "trace":
      if (event.trace) applyTrace(client, keys, event.trace)
      old(keys.summaries)
      break
    case "log":
      old(keys.logs)
      break
  }
}

function applyTrace(client: QueryClient, keys: Keys, trace: Summary): void {
  client.setQueriesData({ queryKey: keys.summaries }, (now: unknown) => replaced(now, trace))
  void client.invalidateQueries({ queryKey: keys.trace(trace.traceId), refetchType: "none" })
  const { key } = trace
  if (!key) return
  if (trace.status !== "running") void client.invalidateQueries({ queryKey: keys.inputs(key) })
  client.setQueryData<ActionList>(keys.actions, (now) => {
    const at = now?.actions.findIndex((action) => action.key === key) ?? -1
    const action = now?.actions[at]
    if (now === undefined || action === undefined) return now
    if (action.lastRun && action.lastRun.startTimeMs > trace.startTimeMs) return now
    return { ...now, actions: now.actions.with(at, { ...action, lastRun: lastRun(trace) }) }
  })
}

function lastRun(trace: Summary): LastRunData {
  return {
    traceId: trace.traceId,
    startTimeMs: trace.startTimeMs,
    durationMs: trace.durationMs,
    status: trace.status === "running" ? null : trace.status,
  }
}

/** A list of summaries, or pages of them, with this trace as it is now; itself when the trace is not in it. */
function replaced(now: unknown, trace: Summary): unknown {
  if (isList(now)) {
    const at = now.traces.findIndex((one) => one.traceId === trace.traceId)
    return at === -1 ? now : { ...now, traces: now.traces.with(at, trace) }
  }
  if (typeof now === "object" && now !== null && "pages" in now && Array.isArray(now.pages)) {
    const pages = now.pages.map((page) => replaced(page, trace))
    return pages.every((page, at) => page === (now.pages as unknown[])[at]) ? now : { ...now, pages }
  }
  return now
}

function isList(value: unknown): value is SummaryList {
  return typeof value === "object" && value !== null && "traces" in value && Array.isArray(value.traces)
}
