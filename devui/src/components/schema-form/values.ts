/**
 * Values beside their fields: places in them, what they start with, which option of a union they are.
 *
 *     setAt({ pet: { lives: 9 }, more: 1 }, ["pet", "lives"], 7)      { pet: { lives: 7 }, more: 1 }
 *     setAt({ a: 1, b: 2 }, ["a"], undefined)                         { b: 2 }
 */

import { isRecord } from "@/lib/json"
import { describe, type Field, type Option } from "./fields"
import type { Node } from "./schema"

export type Path = readonly (string | number)[]

/** One text for each place. */
export function samePathKey(path: Path): string {
  return JSON.stringify(path.map(String))
}

export function getAt(value: unknown, path: Path): unknown {
  let at = value
  for (const step of path) {
    if (Array.isArray(at)) at = at[Number(step)]
    else if (isRecord(at) && Object.hasOwn(at, step)) at = at[step]
    else return undefined
  }
  return at
}

/** A copy with another value at a place; undefined takes a key away. All else stays as it is, known or not. */
export function setAt(value: unknown, path: Path, next: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return next
  if (typeof step === "number") {
    const copy = Array.isArray(value) ? [...value] : []
    // A list has no holes: what is not given in the middle of a tuple is null.
    while (copy.length < step) copy.push(null)
    const inner = setAt(copy[step], rest, next)
    if (inner === undefined && step >= copy.length - 1) copy.length = Math.min(copy.length, step)
    else copy[step] = inner === undefined ? null : inner
    return copy
  }
  const inner = setAt(isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined, rest, next)
  const entries = isRecord(value) ? Object.entries(value) : []
  if (inner === undefined) return fromEntries(entries.filter(([key]) => key !== step))
  if (entries.some(([key]) => key === step))
    return fromEntries(entries.map(([key, old]) => [key, key === step ? inner : old]))
  return fromEntries([...entries, [step, inner]])
}

/** As Object.fromEntries, which is also right for a key called `__proto__`. */
export function fromEntries(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries)
}

export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]))
  if (!isRecord(a) || !isRecord(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  )
}

/** What a place begins with when it is added: undefined where a person has to say it. */
export function initial(node: Node): unknown {
  const field = describe(node)
  if (field.hasDefault && field.default !== null) return structuredClone(field.default)
  switch (field.kind) {
    case "const":
      return field.value
    case "object":
      return withRequired({}, node)
    case "map":
      return {}
    case "array":
      return []
    case "tuple":
      return []
    case "null":
      return null
    case "union": {
      const [first] = field.options
      return first === undefined ? undefined : startOption(first)
    }
    default:
      return undefined
  }
}

export function startOption(option: Option): unknown {
  const value = initial(option.node)
  return option.tag !== undefined && isRecord(value)
    ? { ...value, [option.tag.property]: option.tag.values[0] }
    : value
}

/** What goes without saying is said: constants, switches that were left off, lists and objects that are required. */
export function withRequired(value: unknown, node: Node): unknown {
  const field = describe(node)
  if (field.nullable && value === null) return value
  switch (field.kind) {
    case "object": {
      if (value !== undefined && !isRecord(value)) return value
      let whole: unknown = value ?? {}
      for (const { key, node: inner, required } of field.properties) {
        const old = getAt(whole, [key])
        if (old === undefined && !required) continue
        const next = old === undefined && describe(inner).nullable ? null : withRequired(old, inner)
        if (next !== old) whole = setAt(whole, [key], next)
      }
      return whole
    }
    case "array":
    case "tuple":
      if (value === undefined) return field.nullable ? undefined : []
      if (!Array.isArray(value)) return value
      return value.map((item, index) => {
        const inner = field.kind === "array" ? field.items : (field.items[index] ?? field.rest)
        return inner === undefined || item === undefined || item === null ? item : withRequired(item, inner)
      })
    case "map":
      return value === undefined && !field.nullable ? {} : value
    case "boolean":
      return value === undefined && !field.nullable && !field.hasDefault ? false : value
    case "const":
      return value === undefined && !field.nullable ? field.value : value
    case "union": {
      if (value === undefined) return value
      const option = field.options[optionOf(field, value)]
      return option === undefined ? value : withRequired(value, option.node)
    }
    default:
      return value
  }
}

/** Whether a control can show the value; if not, it is shown as JSON. */
export function fits(field: Field, value: unknown): boolean {
  if (value === undefined || (value === null && field.nullable)) return true
  switch (field.kind) {
    case "object":
    case "map":
      return isRecord(value)
    case "array":
    case "tuple":
      return Array.isArray(value)
    case "boolean":
      return typeof value === "boolean"
    case "number":
      return typeof value === "number" || typeof value === "string"
    case "string":
      return typeof value === "string"
    case "choice":
      return field.values.some((allowed) => sameJson(allowed, value))
    case "const":
      return sameJson(field.value, value)
    case "null":
      return value === null
    case "union":
      return field.options.some((option) => fits(describe(option.node), value))
    case "json":
      return true
  }
}

/** Which option a value is: by its tag, else the one that it fits best; -1 when it is none. */
export function optionOf(field: Field & { kind: "union" }, value: unknown): number {
  if (value === undefined) return -1
  const tagged = field.options.findIndex(
    ({ tag }) =>
      tag !== undefined && isRecord(value) && tag.values.some((one) => sameJson(one, value[tag.property])),
  )
  if (tagged >= 0) return tagged
  let best = -1
  let bestScore = 0
  field.options.forEach(({ node }, index) => {
    const score = likeness(describe(node), value)
    if (score > bestScore) {
      best = index
      bestScore = score
    }
  })
  return best
}

/** 0: cannot be it; the more, the closer. */
function likeness(field: Field, value: unknown): number {
  if (field.kind === "number") {
    if (typeof value !== "number") return 0
    return field.integer ? (Number.isInteger(value) ? 3 : 0) : 2
  }
  if (!fits(field, value)) return 0
  if (field.kind === "json") return 1
  if (field.kind === "object" && isRecord(value)) {
    const known = field.properties.filter(({ key }) => Object.hasOwn(value, key))
    const missing = field.properties.filter(
      ({ key, required }) => required && !Object.hasOwn(value, key),
    ).length
    const wrong = known.filter(({ key, node }) => !fits(describe(node), value[key])).length
    return Math.max(1.5, 3 + known.length - 2 * missing - 3 * wrong) / (wrong > 0 ? 2 : 1)
  }
  if (field.kind === "array" && Array.isArray(value) && value.length > 0) {
    const inner = describe(field.items)
    return value.every((item) => likeness(inner, item) > 0) ? 3 : 1
  }
  return field.kind === "choice" || field.kind === "const" ? 4 : 2
}
