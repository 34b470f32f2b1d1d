/**
 * A JSON Schema as a type in a few words, as Python writes it.
 *
 *     typeText({ type: "array", items: { $ref: "#/$defs/Dish" } })   // "list[Dish]"
 */
import { isRecord } from "./json"

type Schema = Record<string, unknown>

const PLAIN: Record<string, string> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
  array: "list",
  object: "dict",
}

/** At most so many alternatives are named. */
const ALTERNATIVES = 4

export function typeText(schema: unknown): string {
  if (!isRecord(schema) || Object.keys(schema).length === 0) return "any"
  if (typeof schema.$ref === "string") return schema.$ref.split("/").at(-1) ?? "any"
  const either = schema.anyOf ?? schema.oneOf
  if (Array.isArray(either)) return joined(either.map(typeText))
  if (Array.isArray(schema.allOf) && schema.allOf.length === 1) return typeText(schema.allOf[0])
  if (Array.isArray(schema.enum)) return joined(schema.enum.map((one) => JSON.stringify(one)))
  if ("const" in schema) return JSON.stringify(schema.const)
  const { type } = schema
  if (Array.isArray(type)) return joined(type.map((one) => typeText({ ...schema, type: one })))
  if (type === "array") return isRecord(schema.items) ? `list[${typeText(schema.items)}]` : "list"
  if (type === "object") {
    // A title that is written like a class is one.
    if (typeof schema.title === "string" && /^[A-Z]\w*$/.test(schema.title) && isRecord(schema.properties))
      return schema.title
    if (isRecord(schema.additionalProperties)) return `dict[str, ${typeText(schema.additionalProperties)}]`
    return "dict"
  }
  if (
    type === "string" &&
    typeof schema.format === "string" &&
    /^(date|date-time|time|uri|uuid|path)$/.test(schema.format)
  )
    return schema.format.replace("date-time", "datetime")
  return typeof type === "string" ? (PLAIN[type] ?? type) : "any"
}

function joined(words: readonly string[]): string {
  const unique = [...new Set(words)]
  return unique.length > ALTERNATIVES
    ? `${unique.slice(0, ALTERNATIVES).join(" | ")} | …`
    : unique.join(" | ")
}

interface Property {
  path: string
  name: string
  depth: number
  type: string
  required: boolean
  about: string
  /** `≥ 1`, `default "polite"`. */
  limits: string
}

const DEEPEST = 3

/** The fields of an object schema, and theirs, as a flat list; empty for what has no fields. */
export function properties(schema: unknown): Property[] {
  const found: Property[] = []
  const visit = (part: unknown, path: string, depth: number, seen: readonly Schema[]) => {
    const resolved = inner(part, schema)
    if (
      resolved === undefined ||
      seen.includes(resolved) ||
      depth > DEEPEST ||
      !isRecord(resolved.properties)
    )
      return
    const required = Array.isArray(resolved.required) ? resolved.required : []
    for (const [name, property] of Object.entries(resolved.properties)) {
      if (!isRecord(property)) continue
      const here = `${path}.${name}`
      const about = property.description ?? target(property, schema)?.description ?? ""
      found.push({
        path: here,
        name,
        depth,
        type: typeText(property),
        required: required.includes(name),
        about: String(about),
        limits: limits(property),
      })
      visit(property, here, depth + 1, [...seen, resolved])
    }
  }
  visit(schema, "", 0, [])
  return found
}

/** What has the fields: the schema itself, what it refers to, the items of a list, the one alternative to null. */
function inner(schema: unknown, root: unknown): Schema | undefined {
  const found = target(schema, root)
  if (found === undefined) return undefined
  if (found.type === "array") return inner(found.items, root)
  const either = found.anyOf ?? found.oneOf
  if (Array.isArray(either)) {
    const some = either.filter((one) => !isRecord(one) || one.type !== "null")
    return some.length === 1 ? inner(some[0], root) : undefined
  }
  return found
}

function target(schema: unknown, root: unknown): Schema | undefined {
  if (!isRecord(schema)) return undefined
  const all = Array.isArray(schema.allOf) && schema.allOf.length === 1 ? schema.allOf[0] : schema
  if (!isRecord(all)) return undefined
  if (typeof all.$ref !== "string") return all
  let at: unknown = root
  for (const part of all.$ref.replace(/^#\/?/, "").split("/").filter(Boolean))
    at = isRecord(at) ? at[part.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined
  return isRecord(at) ? at : undefined
}

function limits(property: Schema): string {
  const words: string[] = []
  const say = (name: string, sign: string) => {
    const value = property[name]
    if (typeof value === "number") words.push(`${sign} ${value}`)
  }
  say("minimum", "≥")
  say("exclusiveMinimum", ">")
  say("maximum", "≤")
  say("exclusiveMaximum", "<")
  say("minLength", "length ≥")
  say("maxLength", "length ≤")
  say("minItems", "items ≥")
  say("maxItems", "items ≤")
  if (typeof property.pattern === "string") words.push(`matches ${property.pattern}`)
  if (property.default !== undefined && property.default !== null)
    words.push(`default ${JSON.stringify(property.default)}`)
  return words.join(", ")
}
