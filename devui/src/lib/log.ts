/**
 * Log records as text.
 *
 *     `${levelOf(log)} ${textOfLog(log)}`
 */
interface Levelled {
  severityNumber?: number | null
  severityText?: string | null
}

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"]

/** By OpenTelemetry's numbers: 1-4 trace, 5-8 debug, 9-12 info, 13-16 warn, 17-20 error, 21-24 fatal. */
export function levelOf(log: Levelled): string {
  const number = log.severityNumber
  if (number != null && number > 0) return LEVELS[Math.min(5, Math.floor((number - 1) / 4))] ?? "info"
  return log.severityText?.toLowerCase() ?? "info"
}

export function textOfLog(log: { body?: unknown }): string {
  if (typeof log.body === "string") return log.body
  return log.body == null ? "" : JSON.stringify(log.body)
}
