/**
 * What a trace cost, when its models told: a sum of what is known, nothing where nothing is.
 *
 *     costOf(outline.spans)    // 0.0021, in dollars
 */
import type { SpanOutline } from "@/api/schema"

const COST = "gen_ai.usage.cost"

export function costOf(spans: readonly Pick<SpanOutline, "kind" | "attributes">[]): number | undefined {
  const known = spans.flatMap(({ kind, attributes }) => {
    const cost = attributes?.[COST]
    return kind === "model" && typeof cost === "number" && Number.isFinite(cost) ? [cost] : []
  })
  return known.length === 0 ? undefined : known.reduce((sum, cost) => sum + cost, 0)
}
