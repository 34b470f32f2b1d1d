/**
 * The stream of a trace that still runs: every span as it starts and as it ends.
 *
 *     for await (const spans of followTrace(id, signal)) merge(spans)
 */
import { request } from "@/api/client"
import type { SpanData, SpanEventData, TraceData } from "@/api/schema"
import { type Span, spanOfGenkit } from "./model/span"

/** Ends when the server ends it, or with `signal`. */
export async function* followTrace(traceId: string, signal: AbortSignal): AsyncGenerator<readonly Span[]> {
  const response = await request(`/api/traces/${encodeURIComponent(traceId)}/stream`, { signal })
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + value).split("\n\n")
      rest = blocks.pop() ?? ""
      const told = blocks
        .filter((block) => block.startsWith("data: "))
        .flatMap((block) => spansOf(block.slice(6)))
      if (told.length > 0) yield told
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function spansOf(text: string): Span[] {
  const event = JSON.parse(text) as TraceData | SpanEventData
  const spans: SpanData[] = "spans" in event ? Object.values(event.spans) : [event.span]
  return spans.map(spanOfGenkit)
}
