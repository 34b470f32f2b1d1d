/**
 * JSON as a person types it: the value, or what is wrong with line and column, which JSON.parse does not say.
 *
 *     readJson('{"a": 1,}')      { problem: { line: 1, column: 9, message: "A key in quotes is expected" } }
 */
export interface Problem {
  readonly line: number
  readonly column: number
  readonly message: string
}

export type Read = { readonly value: unknown; readonly problem?: undefined } | { readonly problem: Problem }

export function readJson(text: string): Read {
  try {
    const value: unknown = JSON.parse(text)
    const lossy = inexact(text)
    return lossy === undefined ? { value } : { problem: lossy }
  } catch {
    return { problem: firstProblem(text) }
  }
}

/** Two spaces, real characters. */
export function writeJson(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2)
}

const LITERAL = /true|false|null/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const SPACE = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/uy

class Fault extends Error {
  constructor(
    readonly at: number,
    message: string,
  ) {
    super(message)
  }
}

function firstProblem(text: string): Problem {
  try {
    new Reader(text).whole()
  } catch (error) {
    if (error instanceof Fault) return place(text, error.at, error.message)
    if (error instanceof RangeError) return place(text, 0, "It is nested too deeply")
    throw error
  }
  return place(text, 0, "This is not JSON")
}

function place(text: string, at: number, message: string): Problem {
  const before = text.slice(0, at)
  const start = before.lastIndexOf("\n") + 1
  return { line: before.split("\n").length, column: at - start + 1, message }
}

class Reader {
  private at = 0

  constructor(private readonly text: string) {}

  whole(): void {
    this.space()
    if (this.at >= this.text.length) throw new Fault(this.at, "A value is expected")
    this.value()
    this.space()
    if (this.at < this.text.length) throw new Fault(this.at, "Nothing may follow the value")
  }

  private value(): void {
    this.space()
    const next = this.text[this.at]
    if (next === "{") this.object()
    else if (next === "[") this.list()
    else if (next === '"') this.string()
    else if (!this.take(LITERAL) && !this.take(NUMBER)) this.unexpected(next)
  }

  private unexpected(next: string | undefined): never {
    if (next === undefined) throw new Fault(this.at, "It ends too early: a value is expected")
    if (next === "'") throw new Fault(this.at, 'Texts are in double quotes: "…"')
    throw new Fault(this.at, "A value is expected")
  }

  private object(): void {
    this.at++
    this.space()
    if (this.skip("}")) return
    for (;;) {
      this.space()
      if (this.text[this.at] !== '"') throw new Fault(this.at, "A key in double quotes is expected")
      this.string()
      this.space()
      if (!this.skip(":")) throw new Fault(this.at, "A colon is expected after the key")
      this.value()
      this.space()
      if (this.skip("}")) return
      if (!this.skip(",")) throw new Fault(this.at, this.ended("A comma or } is expected"))
    }
  }

  private list(): void {
    this.at++
    this.space()
    if (this.skip("]")) return
    for (;;) {
      this.value()
      this.space()
      if (this.skip("]")) return
      if (!this.skip(",")) throw new Fault(this.at, this.ended("A comma or ] is expected"))
    }
  }

  private string(): void {
    if (this.take(STRING)) return
    for (let at = this.at + 1; ; at++) {
      const next = this.text[at]
      if (next === undefined) throw new Fault(at, "The text is not closed: a double quote is missing")
      if (next === "\n") throw new Fault(at, "A line break within a text is written \\n")
      if (next < " ") throw new Fault(at, "A control character within a text is written \\u00…")
      if (next !== "\\") continue
      if (!/^\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/.test(this.text.slice(at, at + 6)))
        throw new Fault(at, "A backslash is written twice: \\\\")
      at++
    }
  }

  private ended(message: string): string {
    return this.at >= this.text.length
      ? `It ends too early: ${message.charAt(0).toLowerCase()}${message.slice(1)}`
      : message
  }

  private space(): void {
    this.take(SPACE)
  }

  private skip(character: string): boolean {
    if (this.text[this.at] !== character) return false
    this.at++
    return true
  }

  private take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)
    if (found === null) return false
    this.at += found[0].length
    return true
  }
}

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/** An integer that a browser cannot keep: it would run with other digits. */
function inexact(text: string): Problem | undefined {
  for (const found of text.matchAll(TOKENS)) {
    const token = found[0]
    if (token.length < 16 || token.startsWith('"') || !/^-?\d+$/.test(token)) continue
    if (!Number.isSafeInteger(Number(token)))
      return place(text, found.index, `A browser cannot hold ${token} exactly; use the command line for it`)
  }
  return undefined
}
