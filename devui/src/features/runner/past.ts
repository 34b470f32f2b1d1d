/**
 * Inputs and runs of the past: what a span was given, how a trace ended.
 *
 *     const { value, context } = await inputOf(traceId, spanId)
 */
import { ApiError, api, ask } from "@/api/client"
import type { RunState } from "@/api/follow"
import { queryClient } from "@/api/queries"
import { RunFailure } from "@/api/runs"
import { fetchValue } from "../trace/details/useValue"
import { spanIn } from "../trace/model/span"
import { outlineQuery } from "../trace/useTrace"
import { redactedPlaces, withoutSecrets } from "./redacted"

export interface PastInput {
  value: unknown
  context: unknown
  /** Where something was taken out before it was kept, and has to be given again. */
  redacted: readonly string[]
}

export async function inputOf(traceId: string, spanId: string | undefined): Promise<PastInput> {
  const span = spanIn(await queryClient.fetchQuery(outlineQuery(traceId)), spanId)
  if (span === undefined) throw new ApiError("NOT_FOUND", "The trace has no such span", undefined, [], 404)
  const value = await fetchValue(traceId, span, "input")
  const secrets = redactedPlaces(span.context, "context")
  const redacted = [...redactedPlaces(value), ...secrets]
  return { value: withoutSecrets(value), context: withoutSecrets(span.context), redacted }
}

/** A trace as a run that is over. */
export async function runOf(traceId: string, key: string): Promise<Partial<RunState>> {
  const outline = await queryClient.fetchQuery({ ...outlineQuery(traceId), staleTime: 0 })
  const root = spanIn(outline, undefined)
  const { summary } = outline
  const run = {
    runId: "",
    key,
    traceId,
    spanId: root?.id ?? null,
    status: summary.status === "lost" ? ("error" as const) : summary.status,
    startTimeMs: summary.startTimeMs,
    durationMs: summary.durationMs ?? null,
  }
  const result = root === undefined ? undefined : await fetchValue(traceId, root, "output")
  const error = root?.error
    ? new RunFailure(root.error.type, root.error.message, root.error.stack, { status: "" })
    : undefined
  return { status: summary.status, run, result, ...(error === undefined ? {} : { error }) }
}

/** A run that the server still knows, by its own id or that of its trace. */
export async function keptRun(id: string) {
  const { runs } = await ask(api.GET("/api/runs"))
  return runs.find((run) => run.runId === id || run.traceId === id)
}
