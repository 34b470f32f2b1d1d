/** Which log records are shown, by OpenTelemetry's numbers of their levels. */
import type { LogData } from "@/api/schema"
import { textOfLog } from "@/lib/log"

export const LEVELS = [
  { value: "debug", label: "Debug and above", from: 5 },
  { value: "info", label: "Info and above", from: 9 },
  { value: "warn", label: "Warnings and errors", from: 13 },
  { value: "error", label: "Errors", from: 17 },
] as const

/** From which number on a level takes; undefined for all. */
export function lowest(level: string | undefined): number | undefined {
  return LEVELS.find((one) => one.value === level)?.from
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
  return q === "" || textOfLog(log).toLowerCase().includes(q.toLowerCase())
}
