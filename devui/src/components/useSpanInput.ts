/**
 * The input of a span whose page said "Open in runner", for benches that fill their fields with it.
 *
 *     const input = useSpanInput(from, span)   // undefined until it is there
 */
import { useQuery } from "@tanstack/react-query"
import { api, ask } from "@/api/client"

/** `spanId` undefined: of the root. */
export function useSpanInput(traceId: string | undefined, spanId: string | undefined): unknown {
  const { data } = useQuery({
    queryKey: ["span-input", traceId, spanId],
    queryFn: async ({ signal }) => {
      const trace_id = traceId ?? ""
      const outline = await ask(
        api.GET("/api/traces/{trace_id}/outline", { params: { path: { trace_id } }, signal }),
      )
      const span = outline.spans.find((each) =>
        spanId === undefined ? !each.parentId : each.spanId === spanId,
      )
      if (span === undefined) return null
      if (span.input !== undefined && span.input !== null) return span.input
      const path = { trace_id, span_id: span.spanId, field: "input" }
      return ask(api.GET("/api/traces/{trace_id}/spans/{span_id}/{field}", { params: { path }, signal }))
    },
    enabled: traceId !== undefined,
    retry: false,
  })
  return data ?? undefined
}
