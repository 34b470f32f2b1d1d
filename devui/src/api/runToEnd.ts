/**
 * A run from its start to its end, for pages that want its result and nothing in between.
 *
 *     const { run, result } = await runToEnd("/indexer/menu", { documents }, { signal })
 */
import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query"
import { ApiError } from "./client"
import { lines } from "./lines"
import { cancelRun, failureOf, startRun } from "./runs"
import type { RunEvent, RunInfo } from "./schema"

export type Finished = { run: RunInfo; result: unknown }

/** Wait for the end of a run that was started; also of one that ended before, as long as the server remembers it. */
export async function followToEnd(runId: string, signal: AbortSignal): Promise<Finished> {
  for await (const event of lines<RunEvent>(`/api/runs/${runId}/events`, { signal })) {
    if (event.type !== "ended" || !event.run) continue
    if (event.run.status === "success") return { run: event.run, result: event.result }
    if (event.error) throw failureOf(event.error)
    throw new ApiError("CANCELLED", "The run was cancelled", undefined, [], 0)
  }
  throw new ApiError("UNAVAILABLE", "The run was lost: the server ended", "run it again", [], 0)
}

/** Start a run and wait for it. When `signal` is aborted the run is cancelled. */
export async function runToEnd(
  key: string,
  input: unknown,
  { signal, onStart }: { signal: AbortSignal; onStart?: (run: RunInfo) => void },
): Promise<Finished> {
  const run = await startRun({ key, input })
  onStart?.(run)
  try {
    signal.throwIfAborted()
    return await followToEnd(run.runId, signal)
  } catch (error) {
    if (signal.aborted) await cancelRun(run.runId).catch(() => undefined)
    throw error
  }
}

/** The end of the run of that id; what was there before stays on the screen while it runs. */
export function useFinished(runId: string | undefined): UseQueryResult<Finished> {
  return useQuery({
    queryKey: ["finished", runId],
    queryFn: ({ signal }) => followToEnd(runId as string, signal),
    enabled: runId !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
}
