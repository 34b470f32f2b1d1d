/**
 * What the list of traces is filtered by: as it stands in the address, as the server takes it, and as a test.
 *
 *     queryOf({ status: "error", since: "1h" })    // {status: "error", since: "2026-11-30T08:00:00.000Z"}
 */
import type { Summary } from "@/api/schema"

export interface Search {
  status?: string
  kind?: string
  action?: string
  q?: string
  since?: string
  minMs?: string
  label?: string
  cursor?: string
  internal?: string
}

export const FILTERS = ["status", "kind", "action", "q", "since", "minMs", "label", "internal"] as const

export const STATUSES = ["running", "success", "error", "cancelled", "lost"] as const
type Status = (typeof STATUSES)[number]

const MINUTE = 60_000
const SPANS: Record<string, number> = {
  "15m": 15 * MINUTE,
  "1h": 60 * MINUTE,
  "24h": 1440 * MINUTE,
  "7d": 7 * 1440 * MINUTE,
}

export const SINCE = [
  { value: "15m", label: "Last 15 minutes" },
  { value: "1h", label: "Last hour" },
  { value: "24h", label: "Last 24 hours" },
  { value: "7d", label: "Last 7 days" },
] as const

export const LEAST = [
  { value: "100", label: "100 ms or more" },
  { value: "1000", label: "1 s or more" },
  { value: "10000", label: "10 s or more" },
] as const

/** Without what is no filter. */
export function filterOf(search: Search): Search {
  return Object.fromEntries(FILTERS.flatMap((name) => (search[name] ? [[name, search[name]]] : [])))
}

export function isFiltered(search: Search): boolean {
  return FILTERS.some((name) => search[name])
}

function sinceOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  const span = SPANS[text]
  if (span !== undefined) return now - span
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

function leastOf(text: string | undefined): number | undefined {
  const least = Number(text)
  return text === undefined || !Number.isFinite(least) || least < 0 ? undefined : least
}

function statusOf(text: string | undefined): Status | undefined {
  return STATUSES.find((status) => status === text)
}

/** As `GET /api/traces/summaries` takes it. What it would refuse is left out. */
export function queryOf(search: Search, now: number) {
  const since = sinceOf(search.since, now)
  const minMs = leastOf(search.minMs)
  const status = statusOf(search.status)
  const label = search.label?.includes("=") === true ? search.label : undefined
  return {
    ...(status && { status }),
    ...(search.kind && { kind: search.kind }),
    ...(search.action && { action: search.action }),
    ...(search.q && { q: search.q }),
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(minMs !== undefined && { minMs }),
    ...(label && { label }),
    ...(search.cursor && { cursor: search.cursor }),
    ...(search.internal && { internal: true }),
  }
}

/** Whether a trace that is new belongs into the list, as far as its summary tells. */
export function belongs(trace: Summary, search: Search, now: number): boolean {
  const { action, kind, label, q } = search
  if (trace.internal && !search.internal) return false
  const status = statusOf(search.status)
  if (status !== undefined && trace.status !== status) return false
  if (kind && trace.kind !== kind) return false
  if (action && (action.startsWith("/") ? trace.key : trace.name) !== action) return false
  const since = sinceOf(search.since, now)
  if (since !== undefined && trace.startTimeMs < since) return false
  const least = leastOf(search.minMs)
  if (least !== undefined && (trace.durationMs ?? -1) < least) return false
  if (label?.includes("=") === true) {
    const at = label.indexOf("=")
    if (trace.labels[label.slice(0, at)] !== label.slice(at + 1)) return false
  }
  if (!q) return true
  const text = `${trace.name} ${trace.input ?? ""} ${trace.output ?? ""} ${trace.error ?? ""}`.toLowerCase()
  return q
    .toLowerCase()
    .split(/[\s"]+/)
    .every((word) => text.includes(word))
}
