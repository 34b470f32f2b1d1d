/**
 * A run: begun, stopped, and how it failed.
 *
 *     const { runId } = await startRun({ key: "/flow/menuQA", input: "What is vegan?" })
 *     await cancelRun(runId)
 */
import { ApiError, api, ask } from "./client"
import type { RunInfo } from "./schema"

export interface RunRequest {
  key: string
  /** Absent or undefined: the action is called without one. */
  input?: unknown
  context?: Record<string, unknown> | undefined
}

export function startRun(body: RunRequest): Promise<RunInfo> {
  return ask(api.POST("/api/runs", { body: body as never }))
}

export async function cancelRun(runId: string): Promise<void> {
  await ask(api.POST("/api/runs/{run_id}/cancel", { params: { path: { run_id: runId } } }))
}

/** How a run failed: its exception, and where. */
export class RunFailure extends ApiError {
  constructor(
    readonly type: string,
    message: string,
    readonly stack_: string,
    about: {
      status: string
      hint?: string | undefined
      fields?: readonly { path: string; message: string }[]
    },
  ) {
    super(about.status, message, about.hint, about.fields ?? [], 0)
    this.name = "RunFailure"
  }
}

interface WireError {
  message?: unknown
  details?: { status?: unknown; hint?: unknown; stack?: unknown; errors?: unknown }
}

/** The exception's type is the beginning of the traceback's last line. */
export function failureOf(error: unknown): RunFailure {
  const { message, details = {} } = (error ?? {}) as WireError
  const stack = typeof details.stack === "string" ? details.stack : ""
  const said = typeof message === "string" ? message : "The run failed"
  return new RunFailure(typeFrom(stack, said), said, stack, {
    status: typeof details.status === "string" ? details.status : "UNKNOWN",
    hint: typeof details.hint === "string" ? details.hint : undefined,
    fields: Array.isArray(details.errors) ? (details.errors as { path: string; message: string }[]) : [],
  })
}

function typeFrom(stack: string, message: string): string {
  const named = stack.split("\n").filter((line) => /^[A-Za-z_][\w.]*(:|$)/.test(line))
  const first = message.split("\n")[0] as string
  const line = named.findLast((one) => one.endsWith(first)) ?? named.at(-1)
  return line?.split(":")[0]?.split(".").pop() ?? "Error"
}
