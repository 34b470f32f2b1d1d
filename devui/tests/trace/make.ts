/** Spans for tests. */
import type { Span } from "@/features/trace/model/span"

export function span(id: string, more: Partial<Span> = {}): Span {
  return {
    id,
    parentId: undefined,
    name: id,
    label: "flow",
    type: "action",
    kind: "flow",
    key: `/flow/${id}`,
    start: 0,
    end: 10,
    state: "success",
    error: undefined,
    failureSource: false,
    input: undefined,
    output: undefined,
    inputBytes: 0,
    outputBytes: 0,
    context: undefined,
    attributes: {},
    events: [],
    valuesDropped: false,
    library: undefined,
    ...more,
  }
}

/** A trace of so many spans: flows of ten steps, each step with a model below. */
export function many(count: number): Span[] {
  const spans = [span("root", { start: 0, end: count })]
  for (let at = 1; at < count; at++) {
    const parentId = at % 10 === 1 ? "root" : `s${Math.floor((at - 1) / 10) * 10 + 1}`
    spans.push(span(`s${at}`, { parentId, start: at, end: at + 1, name: `step ${at}` }))
  }
  return spans
}
