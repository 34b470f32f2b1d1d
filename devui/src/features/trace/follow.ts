/**
 * The stream of a trace that still runs: every span as it starts and as it ends.
 *
 *     for await (const spans of followTrace(id, signal)) merge(spans)
 */
import { pieces } from "@/api/lines"
import type { SpanData, SpanEventData, TraceData } from "@/api/schema"
import { type Span, spanOfGenkit } from "./model/span"

/** Ends when the server ends it, or with `signal`. */
export async function* followTrace(traceId: string, signal: AbortSignal): AsyncGenerator<readonly Span[]> {
  for await (const blocks of pieces(`/api/traces/${encodeURIComponent(traceId)}/stream`, "\n\n", {
    signal,
  })) {
    const told = blocks
      .filter((block) => block.startsWith("data: "))
      .flatMap((block) => spansOf(block.slice(6)))
    if (told.length > 0) yield told
  }
}

function spansOf(text: string): Span[] {
  const event = JSON.parse(text) as TraceData | SpanEventData
  const spans: SpanData[] = "spans" in event ? Object.values(event.spans) : [event.span]
  return spans.map(spanOfGenkit)
}
