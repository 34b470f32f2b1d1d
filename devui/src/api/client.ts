/**
 * The dev server's API, typed by its OpenAPI document.
 *
 *     const { actions } = await ask(api.GET("/api/actions"))
 *     await ask(api.POST("/api/validate", { body: { key, input } }))
 */
import createClient from "openapi-fetch"
import type { paths } from "./schema"

/** Why the server refused or failed, in words for a person; `hint` says what to do. */
export class ApiError extends Error {
  constructor(
    readonly status: string,
    message: string,
    readonly hint: string | undefined,
    /** Which fields of the request are wrong, as `{path, message}`. */
    readonly fields: readonly { path: string; message: string }[],
    readonly http: number,
  ) {
    super(message)
    this.name = "ApiError"
  }
}

/** What went wrong, in one line for a person: `There is no such trace (it was deleted, or is another project's)`. */
export function reason(error: unknown): string {
  if (error instanceof ApiError && error.hint !== undefined) return `${error.message} (${error.hint})`
  return error instanceof Error ? error.message || error.name : String(error)
}

/** The server cannot be reached at all. */
export class OfflineError extends Error {
  constructor() {
    super("The dev server does not answer")
    this.name = "OfflineError"
  }
}

const HEADERS = { "X-Flowkit-UI": "1" }

/** Every request of the UI goes through here: the mark of our own pages, and errors that say what to do. */
export async function request(input: Request | string, init?: RequestInit): Promise<Response> {
  const asked = new Request(input, init)
  for (const [name, value] of Object.entries(HEADERS)) asked.headers.set(name, value)
  let response: Response
  try {
    response = await fetch(asked)
  } catch (error) {
    if (asked.signal.aborted) throw error
    throw new OfflineError()
  }
  if (!response.ok) throw await failure(response)
  return response
}

async function failure(response: Response): Promise<ApiError> {
  const text = await response.text()
  let told: {
    status?: string
    message?: string
    details?: { hint?: string; errors?: { path: string; message: string }[] }
  } = {}
  try {
    const body = JSON.parse(text)
    told = body.error ?? body
  } catch {
    told = { message: text.slice(0, 500) }
  }
  const message = told.message || `HTTP ${response.status}`
  return new ApiError(
    told.status ?? "UNKNOWN",
    message,
    told.details?.hint,
    told.details?.errors ?? [],
    response.status,
  )
}

/** `api.GET("/api/actions/{key}", …)`: data or an exception, never an error in the result. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: (asked) => request(asked) })

/** The body of an answer: `const list = await ask(api.GET("/api/runs"))`. Failures have been thrown before. */
export async function ask<T>(answer: Promise<{ data?: T }>): Promise<T> {
  return (await answer).data as T
}
