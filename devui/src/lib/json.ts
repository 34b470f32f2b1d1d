/**
 * JSON values of any kind.
 *
 *     if (isRecord(value)) Object.keys(value)
 *     jsonText({ a: 1 })      // '{\n  "a": 1\n}'; a text stays as it is
 */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** To be copied or saved: a text as it is, anything else as JSON; nothing is `null`. */
export function jsonText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null, null, 2)
}

/** The text parts of a message or document, one after another. */
export function textOfParts(parts: unknown): string {
  if (!Array.isArray(parts)) return ""
  return parts.map((part) => (isRecord(part) && typeof part.text === "string" ? part.text : "")).join("")
}
