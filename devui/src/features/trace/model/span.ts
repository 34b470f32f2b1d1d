/**
 * One span as the trace view keeps it, made from an outline or from what a stream tells.
 *
 *     const span = spanOfOutline(outline.spans[0])
 */

import type { Outline, SpanData, SpanOutline } from "@/api/schema"
import { count } from "@/lib/format"

type SpanState = "success" | "error" | "cancelled"

export interface SpanError {
  type: string
  message: string
  stack: string
}

interface SpanEvent {
  name: string
  timeMs: number
  attributes: Record<string, unknown>
}

/** Of a model: what it was given, and what it wrote. */
export interface Tokens {
  input: number
  output: number
}

export interface Span {
  id: string
  parentId: string | undefined
  name: string
  /** Its kind, `step`, or its type. */
  label: string
  type: string
  kind: string | undefined
  key: string | undefined
  /** Milliseconds since the epoch. */
  start: number
  /** Absent while it runs. */
  end: number | undefined
  state: SpanState | undefined
  error: SpanError | undefined
  failureSource: boolean
  /** Absent when there is none, or when it is big: see `inputBytes`. */
  input: unknown
  output: unknown
  inputBytes: number
  outputBytes: number
  context: unknown
  attributes: Record<string, unknown>
  events: readonly SpanEvent[]
  /** The writer could not keep up, and left the values out. */
  valuesDropped: boolean
  library: string | undefined
}

/** Up to here a value is in the outline. */
const SMALL_BYTES = 2048

export function spanOfOutline(outline: SpanOutline): Span {
  const { startTimeMs: start, durationMs } = outline
  return {
    id: outline.spanId,
    parentId: outline.parentId ?? undefined,
    name: outline.name,
    label: outline.label,
    type: outline.type,
    kind: outline.kind ?? undefined,
    key: outline.key ?? undefined,
    start,
    end: durationMs == null ? undefined : start + durationMs,
    state: outline.state ?? undefined,
    error: outline.error ?? undefined,
    failureSource: outline.failureSource ?? false,
    input: outline.input ?? undefined,
    output: outline.output ?? undefined,
    inputBytes: outline.inputBytes,
    outputBytes: outline.outputBytes,
    context: outline.context ?? undefined,
    attributes: outline.attributes ?? {},
    events: outline.events ?? [],
    valuesDropped: outline.valuesDropped ?? false,
    library: outline.library ?? undefined,
  }
}

/** One span of an outline; without an id, that of the action which was run. */
export function spanIn({ spans }: Pick<Outline, "spans">, spanId: string | undefined): Span | undefined {
  const found =
    spanId === undefined
      ? (spans.find((span) => !span.parentId && span.kind) ??
        spans.find((span) => !span.parentId) ??
        spans[0])
      : spans.find((span) => span.spanId === spanId)
  return found && spanOfOutline(found)
}

const STATES: Record<string, SpanState> = { success: "success", error: "error", cancelled: "cancelled" }

/** Attributes that have a field of their own. */
const KNOWN = new Set([
  "genkit:name",
  "genkit:type",
  "genkit:metadata:subtype",
  "genkit:key",
  "genkit:path",
  "genkit:isRoot",
  "genkit:input",
  "genkit:output",
  "genkit:metadata:context",
  "genkit:state",
  "genkit:isFailureSource",
  "genkit:lastKnownParentSpanId",
  "flowkit:state",
  "flowkit:valuesDropped",
])

/** What a stream tells of a span. Big values stay outside, as in an outline; a size is of characters then. */
export function spanOfGenkit(data: SpanData): Span {
  const facts = data.attributes
  const text = (name: string) => (typeof facts[name] === "string" ? (facts[name] as string) : undefined)
  const type = text("genkit:type") ?? "external"
  const kind = text("genkit:metadata:subtype")
  const input = text("genkit:input")
  const output = text("genkit:output")
  const events = (data.timeEvents?.timeEvent ?? []).flatMap((event) =>
    event.annotation == null
      ? []
      : [
          {
            name: event.annotation.description,
            timeMs: event.time,
            attributes: event.annotation.attributes ?? {},
          },
        ],
  )
  const ended = data.endTime > 0
  const told =
    text("flowkit:state") ?? text("genkit:state") ?? (data.status?.code === 2 ? "error" : "success")
  const state = ended ? (STATES[told] ?? "success") : undefined
  return {
    id: data.spanId,
    parentId: data.parentSpanId ?? text("genkit:lastKnownParentSpanId"),
    name: data.displayName,
    label: kind ?? (type === "flowStep" ? "step" : type),
    type,
    kind,
    key: text("genkit:key") ?? (kind === undefined ? undefined : `/${kind}/${data.displayName}`),
    start: data.startTime,
    end: ended ? Math.max(data.endTime, data.startTime) : undefined,
    state,
    error: state === "success" ? undefined : errorOf(events, data.status?.message ?? ""),
    failureSource: facts["genkit:isFailureSource"] === true,
    input: small(input),
    output: small(output),
    inputBytes: input?.length ?? 0,
    outputBytes: output?.length ?? 0,
    context: small(text("genkit:metadata:context")),
    attributes: Object.fromEntries(Object.entries(facts).filter(([name]) => !KNOWN.has(name))),
    events: type === "external" ? events : events.filter((event) => event.name !== "exception"),
    valuesDropped: facts["flowkit:valuesDropped"] === true,
    library:
      data.instrumentationLibrary.name === "genkit-tracer" ? undefined : data.instrumentationLibrary.name,
  }
}

function errorOf(events: readonly SpanEvent[], message: string): SpanError | undefined {
  const raised = events.find((event) => event.name === "exception")?.attributes ?? {}
  const text = (name: string) => String(raised[`exception.${name}`] ?? "")
  const error = { type: text("type"), message: text("message") || message, stack: text("stacktrace") }
  return error.type || error.message ? error : undefined
}

function small(text: string | undefined): unknown {
  if (text === undefined || text.length > SMALL_BYTES) return undefined
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return text
  }
}

/** Joins what is known of a span: an end is never taken back by the record of a start. */
export function newer(known: Span | undefined, told: Span): Span {
  return known?.end !== undefined && told.end === undefined ? known : told
}

/** Milliseconds; undefined while it runs. */
export function tookOf(span: Span | undefined): number | undefined {
  return span?.end === undefined ? undefined : span.end - span.start
}

/** Tokens that a model or embedder counted itself. */
export function tokensOf(span: Span): Tokens | undefined {
  const usage = (span.output as { usage?: Record<string, unknown> } | undefined)?.usage
  const input = number(span.attributes["gen_ai.usage.input_tokens"]) ?? number(usage?.inputTokens)
  const output = number(span.attributes["gen_ai.usage.output_tokens"]) ?? number(usage?.outputTokens)
  return input === undefined && output === undefined ? undefined : { input: input ?? 0, output: output ?? 0 }
}

/** `120 → 48`. */
export function tokensText({ input, output }: Tokens): string {
  return `${count(input)} → ${count(output)}`
}

function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}
