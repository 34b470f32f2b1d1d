/**
 * What is wrong with a value, at the place where its field is shown.
 *
 *     check(value, rootNode(schema))                 [{ path: ["count"], message: "At most 10" }]
 *     serverErrors(errors, rootNode(schema), value)  pydantic's locations, without the names of union members
 */
import { type OutputUnit, type Schema as Plain, Validator } from "@cfworker/json-schema"
import { isRecord } from "@/lib/json"
import { describe, type Field } from "./fields"
import type { JsonSchema, Node } from "./schema"
import { getAt, optionOf, type Path, sameJson } from "./values"

export interface FieldProblem {
  readonly path: Path
  readonly message: string
}

/** As far as a browser can tell; the server has the last word. */
export function check(value: unknown, node: Node, path: Path = []): FieldProblem[] {
  const field = describe(node)
  const here = (message: string): FieldProblem[] => [{ path, message }]
  if (value === null && field.nullable) return []
  if (value === undefined || (value === null && field.kind !== "null" && field.kind !== "json"))
    return path.length === 0 && field.hasDefault ? [] : here("Required")
  switch (field.kind) {
    case "object": {
      if (!isRecord(value)) return here("An object is expected")
      const found = field.properties.flatMap(({ key, node: inner, required }) => {
        const item = getAt(value, [key])
        return item === undefined && !required ? [] : check(item, inner, [...path, key])
      })
      if (field.extra !== undefined) return found
      const known = new Set(field.properties.map(({ key }) => key))
      const unknown = Object.keys(value).filter((key) => !known.has(key))
      return [...found, ...unknown.map((key) => ({ path: [...path, key], message: "There is no such key" }))]
    }
    case "map":
      if (!isRecord(value)) return here("An object is expected")
      return Object.entries(value).flatMap(([key, item]) => check(item, field.values, [...path, key]))
    case "array":
      if (!Array.isArray(value)) return here("A list is expected")
      return [
        ...counted(value, field.schema).flatMap(here),
        ...value.flatMap((item, index) => check(item, field.items, [...path, index])),
      ]
    case "tuple": {
      if (!Array.isArray(value)) return here("A list is expected")
      const missing = field.items.slice(value.length).map((_, index) => value.length + index)
      const least = field.schema.minItems ?? 0
      return [
        ...value.flatMap((item, index) => {
          const inner = field.items[index] ?? field.rest
          if (inner === undefined) return [{ path: [...path, index], message: "One too many" }]
          return check(item, inner, [...path, index])
        }),
        ...missing
          .filter((index) => index < least)
          .map((index) => ({ path: [...path, index], message: "Required" })),
      ]
    }
    case "union": {
      const option = field.options[optionOf(field, value)]
      return option === undefined
        ? here(`One of: ${field.options.map(({ label }) => label).join(", ")}`)
        : check(value, option.node, path)
    }
    case "choice":
      return field.values.some((allowed) => sameJson(allowed, value))
        ? []
        : here(`One of: ${field.values.map(shown).join(", ")}`)
    case "const":
      return sameJson(field.value, value) ? [] : here(`Always ${shown(field.value)}`)
    default:
      return leaf(value, field).map((message) => ({ path, message }))
  }
}

function counted(value: readonly unknown[], { minItems, maxItems, uniqueItems }: JsonSchema): string[] {
  if (minItems !== undefined && value.length < minItems) return [`At least ${minItems} of them`]
  if (maxItems !== undefined && value.length > maxItems) return [`At most ${maxItems} of them`]
  if (
    uniqueItems === true &&
    value.some((item, index) => value.slice(0, index).some((other) => sameJson(other, item)))
  )
    return ["None may be there twice"]
  return []
}

// Others are judged by the server: pydantic takes more than the standard's forms, times without a zone for one.
const FORMATS = new Set(["date", "email", "uri", "uuid", "ipv4", "ipv6"])

function leaf(value: unknown, field: Field): string[] {
  if (field.kind === "number" && typeof value !== "number")
    return [field.integer ? "A whole number is expected" : "A number is expected"]
  if (field.kind === "string" && typeof value !== "string") return ["A text is expected"]
  if (field.kind === "boolean" && typeof value !== "boolean") return ["true or false is expected"]
  const { root } = field.node
  const draft =
    String(root.$schema ?? "").includes("draft-07") || root.definitions !== undefined ? "7" : "2020-12"
  const schema: JsonSchema = { ...field.schema }
  if (schema.format !== undefined && !FORMATS.has(schema.format)) delete schema.format
  const definitions = { ...root.$defs, ...root.definitions }
  let result: ReturnType<Validator["validate"]>
  try {
    const whole = {
      ...schema,
      $defs: { ...definitions, ...schema.$defs },
      definitions: { ...definitions, ...schema.definitions },
    }
    result = new Validator(whole as Plain, draft, false).validate(value)
  } catch {
    return [] // a pattern or reference that only Python understands
  }
  if (result.valid) return []
  const deepest = result.errors.filter((error) => !WRAPPERS.has(error.keyword))
  return [
    ...new Set(
      (deepest.length > 0 ? deepest : result.errors).slice(0, 3).map((error) => worded(error, schema)),
    ),
  ]
}

const WRAPPERS = new Set([
  "properties",
  "items",
  "additionalProperties",
  "anyOf",
  "oneOf",
  "allOf",
  "$ref",
  "if",
  "then",
  "else",
])

function worded(error: OutputUnit, schema: JsonSchema): string {
  if (error.instanceLocation !== "#") return `${error.instanceLocation.slice(2)}: ${error.error}`
  switch (error.keyword) {
    case "minimum":
      return `At least ${schema.minimum}`
    case "maximum":
      return `At most ${schema.maximum}`
    case "exclusiveMinimum":
      return `More than ${schema.exclusiveMinimum}`
    case "exclusiveMaximum":
      return `Less than ${schema.exclusiveMaximum}`
    case "multipleOf":
      return `A multiple of ${schema.multipleOf}`
    case "minLength":
      return schema.minLength === 1 ? "May not be empty" : `At least ${schema.minLength} characters`
    case "maxLength":
      return `At most ${schema.maxLength} characters`
    case "pattern":
      return `Must look like ${schema.pattern}`
    case "format":
      return `This is no ${schema.format}`
    case "type":
      return schema.type === "integer" ? "A whole number is expected" : `${String(schema.type)} is expected`
    default:
      return error.error
  }
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}

/**
 * Pydantic's locations, `pet.cat.lives`, as places in the value: what names the member of a union is left out, and
 * what goes deeper than the form is told at the last place that it shows.
 */
export function serverErrors(
  errors: readonly { path: string; message: string }[],
  node: Node,
  value: unknown,
): FieldProblem[] {
  const found = errors.map(({ path, message }) => ({ path: located(path, node, value), message }))
  const merged = new Map<string, FieldProblem>()
  for (const problem of found) {
    const key = JSON.stringify(problem.path)
    const before = merged.get(key)
    const both =
      before === undefined || before.message === problem.message
        ? problem.message
        : `${before.message}; ${problem.message}`
    merged.set(key, { path: problem.path, message: both })
  }
  return [...merged.values()]
}

function located(path: string, node: Node, value: unknown): Path {
  let rest = path === "" ? [] : path.split(".")
  const found: (string | number)[] = []
  let field = describe(node)
  let at = value
  while (rest.length > 0) {
    if (field.kind === "union") {
      const index = optionOf(field, at)
      const chosen = field.options[index]
      const member = field.options.find(({ label, tag, node: inner }) =>
        names(rest[0] as string, label, tag?.values, inner),
      )
      if (member !== undefined) rest = rest.slice(1)
      const next = chosen ?? member ?? field.options[0]
      if (next === undefined) break
      field = describe(next.node)
      continue
    }
    const step = nextStep(field, rest, at)
    if (step === undefined) {
      // A validator's own name within the location: function-after[…], or the name of a model.
      rest = rest.slice(1)
      continue
    }
    found.push(step.key)
    rest = rest.slice(step.used)
    at = getAt(at, [step.key])
    if (step.node === undefined) break
    field = describe(step.node)
  }
  return found
}

const PYTHON: Record<string, readonly string[]> = {
  string: ["str", "constrained-str", "date", "datetime", "time", "url", "uuid", "bytes"],
  integer: ["int", "constrained-int"],
  number: ["float", "decimal", "constrained-float"],
  boolean: ["bool"],
  array: ["list", "tuple", "set"],
  object: ["dict"],
}

function names(step: string, label: string, tags: readonly unknown[] | undefined, inner: Node): boolean {
  if (step === label || tags?.some((tag) => String(tag) === step)) return true
  const type = describe(inner).schema.type
  const bare = step.replace(/\[.*$/, "")
  return typeof type === "string" && (PYTHON[type] ?? []).includes(bare)
}

/** The next key of the value; a key may hold dots itself, the longest that is there wins. */
function nextStep(
  field: Field,
  rest: readonly string[],
  value: unknown,
): { key: string | number; used: number; node: Node | undefined } | undefined {
  if (field.kind === "array" || field.kind === "tuple") {
    const index = Number(rest[0])
    if (!Number.isInteger(index) || index < 0) return undefined
    return {
      key: index,
      used: 1,
      node: field.kind === "array" ? field.items : (field.items[index] ?? field.rest),
    }
  }
  if (field.kind !== "object" && field.kind !== "map") return undefined
  for (let used = rest.length; used > 0; used--) {
    const key = rest.slice(0, used).join(".")
    const known =
      field.kind === "object" ? field.properties.find((property) => property.key === key)?.node : field.values
    const there = isRecord(value) && Object.hasOwn(value, key)
    if (field.kind === "object" ? known !== undefined || there : there) return { key, used, node: known }
  }
  return undefined
}

/** After an edit: what the browser finds now, and what the server said about places that have not changed. */
export function stillWrong(
  told: readonly FieldProblem[],
  before: unknown,
  now: unknown,
  node: Node,
): FieldProblem[] {
  const own = check(now, node)
  const kept = told.filter(
    ({ path }) =>
      sameJson(getAt(before, path), getAt(now, path)) && !own.some((problem) => samePath(problem.path, path)),
  )
  return [...kept, ...own]
}

function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((step, index) => String(step) === String(b[index]))
}
