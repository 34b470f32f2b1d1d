/**
 * Streams of text in pieces, and of one JSON value on each line.
 *
 *     for await (const event of lines<RunEvent>(`/api/runs/${id}/events`, { signal })) …
 */
import { request } from "./client"

/** Pieces as they arrive, those of one packet together, until the server ends the stream or `signal` is aborted. */
export async function* pieces(
  url: string,
  separator: string,
  { signal }: { signal: AbortSignal },
): AsyncGenerator<readonly string[]> {
  const response = await request(url, { signal })
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const parts = (rest + value).split(separator)
      rest = parts.pop() ?? ""
      yield parts
    }
    yield [rest]
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** Values as they arrive. */
export async function* lines<T>(url: string, { signal }: { signal: AbortSignal }): AsyncGenerator<T> {
  for await (const parts of pieces(url, "\n", { signal })) {
    for (const line of parts) if (line.trim() !== "") yield JSON.parse(line) as T
  }
}
