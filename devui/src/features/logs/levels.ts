/** Levels of log records, by OpenTelemetry's numbers. */
import type { LogData } from "@/api/schema"

type Level = "trace" | "debug" | "info" | "warn" | "error"

export const LEVELS: readonly { value: Level; label: string; from: number }[] = [
  { value: "debug", label: "Debug and above", from: 5 },
  { value: "info", label: "Info and above", from: 9 },
  { value: "warn", label: "Warnings and errors", from: 13 },
  { value: "error", label: "Errors", from: 17 },
]

/** From which number on a level takes; undefined for all. */
export function lowest(level: string | undefined): number | undefined {
  return LEVELS.find((one) => one.value === level)?.from
}

export function levelOf(log: LogData): Level {
  const number = log.severityNumber ?? 9
  if (number >= 17) return "error"
  if (number >= 13) return "warn"
  if (number >= 9) return "info"
  return number >= 5 ? "debug" : "trace"
}

export interface LogFilter {
  level: string | undefined
  q: string
  traceId: string | undefined
  spanId: string | undefined
}

/** Whether a record that has just come belongs into the list, as the server would say. */
export function fits(log: LogData, { level, q, traceId, spanId }: LogFilter): boolean {
  if ((log.severityNumber ?? 9) < (lowest(level) ?? 0)) return false
  if (traceId !== undefined && log.traceId !== traceId) return false
  if (spanId !== undefined && log.spanId !== spanId) return false
  return q === "" || bodyText(log).toLowerCase().includes(q.toLowerCase())
}

export function bodyText(log: LogData): string {
  return typeof log.body === "string" ? log.body : JSON.stringify(log.body ?? null)
}
