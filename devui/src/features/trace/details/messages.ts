/**
 * Messages and their parts, read out of what a model was given or gave.
 *
 *     messagesOf(input)     // [{role: "user", parts: [{type: "text", text: "…"}]}]
 */
import { isRecord } from "@/lib/json"

export type Part =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "toolRequest"; name: string; ref: string | undefined; value: unknown }
  | { type: "toolResponse"; name: string; ref: string | undefined; value: unknown }
  | { type: "media"; url: string; contentType: string | undefined }
  | { type: "other"; value: unknown }

export interface Message {
  role: string
  parts: readonly Part[]
}

/** Empty when there are none: the value is something else then. */
export function messagesOf(value: unknown): readonly Message[] {
  if (!isRecord(value)) return []
  const list = Array.isArray(value.messages)
    ? value.messages
    : isRecord(value.message)
      ? [value.message]
      : // Genkit's older models answer with candidates.
        Array.isArray(value.candidates)
        ? value.candidates.flatMap((candidate) => (isRecord(candidate) ? [candidate.message] : []))
        : []
  return list.flatMap((message) =>
    isRecord(message) && Array.isArray(message.content)
      ? [{ role: String(message.role ?? "?"), parts: message.content.map(partOf) }]
      : [],
  )
}

function partOf(part: unknown): Part {
  if (!isRecord(part)) return { type: "other", value: part }
  if (typeof part.text === "string") return { type: "text", text: part.text }
  if (typeof part.reasoning === "string") return { type: "reasoning", text: part.reasoning }
  if (isRecord(part.media)) {
    const { url, contentType } = part.media
    return {
      type: "media",
      url: String(url ?? ""),
      contentType: typeof contentType === "string" ? contentType : undefined,
    }
  }
  for (const type of ["toolRequest", "toolResponse"] as const) {
    const tool = part[type]
    if (!isRecord(tool)) continue
    const ref = typeof tool.ref === "string" ? tool.ref : undefined
    return {
      type,
      name: String(tool.name ?? "?"),
      ref,
      value: type === "toolRequest" ? tool.input : tool.output,
    }
  }
  return { type: "other", value: part }
}

/** What the request has beside its messages: tools, config, docs. */
export function restOf(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) return {}
  const { messages: _, message: __, candidates: ___, request: ____, ...rest } = value
  return Object.fromEntries(
    Object.entries(rest).filter(([, item]) => item != null && !(Array.isArray(item) && item.length === 0)),
  )
}
