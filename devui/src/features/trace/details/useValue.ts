/**
 * The input or output of a span: as it is in the outline, or asked for.
 *
 *     const value = useValue(traceId, span, "output")
 *     if (value.state === "big") …    // ask with value.load()
 */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { request } from "@/api/client"
import { keys } from "@/api/queries"
import type { Span } from "../model/span"

export type Field = "input" | "output"

type Value =
  | { state: "none" }
  | { state: "value"; value: unknown }
  | { state: "big"; load: () => void }
  | { state: "loading" }
  | { state: "failed"; error: unknown; retry: () => void }

/** Above this, nothing is loaded before it is wished. */
const ASKED_ABOVE_BYTES = 200_000
const KEPT_MS = 60_000

export const valueUrl = (traceId: string, spanId: string, field: Field) =>
  `/api/traces/${encodeURIComponent(traceId)}/spans/${encodeURIComponent(spanId)}/${field}`

export async function fetchValue(
  traceId: string,
  span: Span,
  field: Field,
  signal?: AbortSignal,
): Promise<unknown> {
  if (span[field] !== undefined || span[`${field}Bytes`] === 0) return span[field]
  const response = await request(valueUrl(traceId, span.id, field), signal === undefined ? {} : { signal })
  return response.json()
}

export function useValue(traceId: string, span: Span, field: Field): Value {
  const [asked, setAsked] = useState(false)
  const bytes = span[`${field}Bytes`]
  const known = span[field] !== undefined
  const wanted = !known && bytes > 0 && (asked || bytes <= ASKED_ABOVE_BYTES)
  const query = useQuery({
    queryKey: [...keys.trace(traceId), "value", span.id, field, bytes],
    queryFn: ({ signal }) => fetchValue(traceId, span, field, signal),
    enabled: wanted,
    gcTime: KEPT_MS,
  })
  if (known) return { state: "value", value: span[field] }
  if (bytes === 0) return { state: "none" }
  if (!wanted) return { state: "big", load: () => setAsked(true) }
  if (query.isError) return { state: "failed", error: query.error, retry: query.refetch }
  if (query.isPending) return { state: "loading" }
  return { state: "value", value: query.data }
}
