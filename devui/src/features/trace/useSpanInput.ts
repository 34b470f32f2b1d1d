/**
 * The input of a span whose page said "Open in runner", for benches that fill their fields with it.
 *
 *     const input = useSpanInput(from, span)   // undefined until it is there
 */
import { useQuery } from "@tanstack/react-query"
import { keys, queryClient } from "@/api/queries"
import { fetchValue } from "./details/useValue"
import { spanIn } from "./model/span"
import { outlineQuery } from "./useTrace"

/** `spanId` undefined: of the root. */
export function useSpanInput(traceId: string | undefined, spanId: string | undefined): unknown {
  const id = traceId ?? ""
  const { data } = useQuery({
    queryKey: [...keys.trace(id), "span-input", spanId],
    queryFn: async ({ signal }) => {
      const span = spanIn(await queryClient.fetchQuery(outlineQuery(id)), spanId)
      return span === undefined ? null : ((await fetchValue(id, span, "input", signal)) ?? null)
    },
    enabled: traceId !== undefined,
    retry: false,
  })
  return data ?? undefined
}
