/**
 * A run as something to paste elsewhere: a command, a script, JSON.
 *
 *     cliCommand({ key: "/flow/hello", input: "Ada" })        flowkit flow:run hello '"Ada"'
 */
import { splitKey } from "@/lib/paths"
import { shellQuote } from "@/lib/shell"

export interface Call {
  key: string
  /** undefined: without one. */
  input: unknown
  context?: Record<string, unknown> | undefined
  /** `app.order`: where Python finds it. */
  function?: string | undefined
}

// A command line takes some 128 kB for one argument.
const LONG = 100_000

/** Only flows have one. */
export function cliCommand({ key, input, context }: Call): string | undefined {
  const { kind, name } = splitKey(key)
  if (kind !== "flow") return undefined
  const words = ["flowkit", "flow:run"]
  if (context !== undefined) words.push("--context", shellQuote(JSON.stringify(context)))
  if (input === undefined) return [...words, shellQuote(name)].join(" ")
  const json = JSON.stringify(input)
  if (json.length > LONG) return `${[...words, shellQuote(name), "-"].join(" ")} <<'INPUT'\n${json}\nINPUT`
  // What begins with a dash would be an option.
  return [...words, ...(json.startsWith("-") ? ["--"] : []), shellQuote(name), shellQuote(json)].join(" ")
}

/** The dev server: the run is started, and its events are read until it ends. */
export function devCurl(call: Call, origin: string): string {
  const { key, input, context } = call
  const body = {
    key,
    ...(input === undefined ? {} : { input }),
    ...(context === undefined ? {} : { context }),
  }
  const start = `curl -s ${origin}/api/runs ${posted(body)}`
  return `run=$(${start} | sed 's/.*"runId":"\\([0-9a-f]*\\)".*/\\1/')\ncurl -sN ${origin}/api/runs/$run/events`
}

/** `flowkit serve` answers at this address by default; flows only. */
export function serveCurl({ key, input }: Call): string | undefined {
  const { kind, name } = splitKey(key)
  if (kind !== "flow") return undefined
  const path = name.split("/").map(encodeURIComponent).join("/")
  return `curl -s ${shellQuote(`http://127.0.0.1:8000/${path}`)} ${posted({ data: input ?? null })}`
}

function posted(body: unknown): string {
  const json = JSON.stringify(body)
  const header = "-H 'Content-Type: application/json'"
  return json.length > LONG
    ? `${header} --data-binary @- <<'INPUT'\n${json}\nINPUT`
    : `${header} -d ${shellQuote(json)}`
}

export function pythonScript(call: Call): string {
  const { key, input, context } = call
  const [module, name] = importable(call.function)
  const args = [
    ...(input === undefined ? [] : [pythonLiteral(input, 1)]),
    ...(context === undefined ? [] : [`context=${pythonLiteral(context, 1)}`]),
  ].join(", ")
  const action = name ?? `(await ai.registry.get(${JSON.stringify(key)}))`
  return `import asyncio

from ${module ?? "app"} import ${name ?? "ai"}


async def main():
    print(await ${action}.run(${args || "None"}))


asyncio.run(main())
`
}

/** `app.order` is `order` of `app`; what is made within a function cannot be imported. */
function importable(path: string | undefined): [string | undefined, string | undefined] {
  const found =
    path === undefined ? null : /^([\p{L}_][\p{L}\p{N}_.]*)\.([\p{L}_][\p{L}\p{N}_]*)$/u.exec(path)
  return found === null ? [path?.split(".")[0], undefined] : [found[1], found[2]]
}

/** A JSON value as Python writes it. JSON's texts are Python's, too. */
export function pythonLiteral(value: unknown, level = 0): string {
  if (value === null || value === undefined) return "None"
  if (typeof value === "boolean") return value ? "True" : "False"
  if (typeof value === "number") return String(value)
  if (typeof value === "string") return JSON.stringify(value)
  const inner = "    ".repeat(level + 1)
  const outer = "    ".repeat(level)
  const items = Array.isArray(value)
    ? value.map((item) => pythonLiteral(item, level + 1))
    : Object.entries(value as object).map(
        ([key, item]) => `${JSON.stringify(key)}: ${pythonLiteral(item, level + 1)}`,
      )
  const [open, close] = Array.isArray(value) ? "[]" : "{}"
  if (items.length === 0) return `${open}${close}`
  const line = `${open}${items.join(", ")}${close}`
  if (line.length + inner.length < 100 && !line.includes("\n")) return line
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${outer}${close}`
}
