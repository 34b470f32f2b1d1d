/**
 * A span as text to take along: JSON, and commands that run its action with its input again.
 *
 *     copyAs.curl(span, input, location.origin)
 */
import { shellQuote } from "@/lib/shell"
import type { Span } from "./span"

export function asJson(span: Span, input: unknown, output: unknown): string {
  return JSON.stringify({ ...span, input, output }, null, 2)
}

/** Runs it in the app of this dev server. */
export function asCurl(key: string, input: unknown, origin: string): string {
  const body = JSON.stringify(input === undefined ? { key } : { key, input })
  return `curl -s ${origin}/api/runs -H 'Content-Type: application/json' -d ${shellQuote(body)}`
}

/** Of flows only: other actions have no command. */
export function asCommand(key: string, input: unknown): string | undefined {
  const [, kind, ...name] = key.split("/")
  if (kind !== "flow") return undefined
  const command = `flowkit flow:run ${shellQuote(name.join("/"))}`
  return input === undefined ? command : `${command} ${shellQuote(JSON.stringify(input))}`
}
