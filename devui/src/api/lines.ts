/**
 * Streams of one JSON value on each line.
 *
 *     for await (const event of lines<RunEvent>(`/api/runs/${id}/events`, { signal })) …
 */
import { request } from "./client"

/** Values as they arrive, until the server ends the stream or `signal` is aborted. */
export async function* lines<T>(url: string, { signal }: { signal: AbortSignal }): AsyncGenerator<T> {
  const response = await request(url, { signal })
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const parts = (rest + value).split("\n")
      rest = parts.pop() ?? ""
      for (const line of parts) if (line.trim() !== "") yield JSON.parse(line) as T
    }
    if (rest.trim() !== "") yield JSON.parse(rest) as T
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
