/**
 * A JSON value as rows of a tree, of which closed parts are left out.
 *
 *     jsonRows({ a: [1] }, { expand: 1, turned: new Map() })
 */
export interface JsonRow {
  /** A JSON pointer: `/items/0/price`; of the whole value, the empty text. */
  pointer: string
  /** As it is written in Python and JavaScript: `items[0].price`. */
  path: string
  /** Absent for the whole value. */
  name: string | undefined
  /** The name is a place in a list. */
  inList: boolean
  depth: number
  value: unknown
  /** How many parts it has; undefined for a value without parts. */
  size: number | undefined
  open: boolean
}

interface Asked {
  /** How many levels are open at first. */
  expand: number
  /** What was opened (true) or closed (false) by hand, by pointer. */
  turned: ReadonlyMap<string, boolean>
}

/** A container with more parts than this is closed at first, unless it is the whole value. */
const MANY = 100

export function jsonRows(value: unknown, { expand, turned }: Asked, name?: string): JsonRow[] {
  const rows: JsonRow[] = []
  const visit = (part: unknown, row: Pick<JsonRow, "pointer" | "path" | "name" | "inList" | "depth">) => {
    const size = sizeOf(part)
    const byItself = row.depth < expand && (size ?? 0) > 0 && (row.depth === 0 || (size ?? 0) <= MANY)
    const open = size !== undefined && size > 0 && (turned.get(row.pointer) ?? byItself)
    rows.push({ ...row, value: part, size, open })
    if (!open) return
    if (Array.isArray(part)) {
      part.forEach((item, at) => {
        visit(item, {
          pointer: `${row.pointer}/${at}`,
          path: `${row.path}[${at}]`,
          name: String(at),
          inList: true,
          depth: row.depth + 1,
        })
      })
      return
    }
    for (const [key, item] of Object.entries(part as Record<string, unknown>))
      visit(item, {
        pointer: `${row.pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`,
        path: /^[A-Za-z_$][\w$]*$/.test(key)
          ? `${row.path}${row.path === "" ? "" : "."}${key}`
          : `${row.path}[${JSON.stringify(key)}]`,
        name: key,
        inList: false,
        depth: row.depth + 1,
      })
  }
  visit(value, { pointer: "", path: "", name, inList: false, depth: 0 })
  return rows
}

function sizeOf(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length
  if (typeof value === "object" && value !== null) return Object.keys(value).length
  return undefined
}

/** What a closed part holds, in a few words: `{name, price, …}`, `[3 items]`. */
export function preview(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 0 ? "[]" : `[${value.length} ${value.length === 1 ? "item" : "items"}]`
  const names = Object.keys(value as Record<string, unknown>)
  if (names.length === 0) return "{}"
  const shown = names.slice(0, 4).map((name) => (name.length > 20 ? `${name.slice(0, 20)}…` : name))
  return `{${shown.join(", ")}${names.length > 4 ? ", …" : ""}}`
}

interface Binary {
  type: string
  bytes: number
}

/** Type and size of a text that stands for bytes: a data URL, or base64 of some length. Undefined for words. */
export function binary(text: string): Binary | undefined {
  const url = /^data:([^;,]{0,100})((?:;[^;,]{0,100}){0,5}),/.exec(text)
  if (url !== null) {
    const body = text.length - url[0].length
    const bytes = (url[2] ?? "").includes(";base64") ? Math.floor((body * 3) / 4) : body
    return { type: url[1] || "text/plain", bytes }
  }
  if (
    text.length >= 512 &&
    text.length % 4 === 0 &&
    /^[A-Za-z0-9+/]{512}/.test(text) &&
    !/[^A-Za-z0-9+/=]/.test(text)
  )
    return { type: "base64", bytes: Math.floor((text.length * 3) / 4) }
  return undefined
}
