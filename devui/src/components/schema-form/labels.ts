/** What fields and their types are called. */
import type { Field } from "./fields"
import { type JsonSchema, refName, type Schema } from "./schema"

const TYPES: Record<string, string> = {
  string: "text",
  integer: "integer",
  number: "number",
  boolean: "true or false",
  array: "list",
  object: "object",
  null: "null",
}

export function optionLabel(option: Schema, found: JsonSchema): string {
  const named = text(found.title) ?? refName(option)
  if (named !== undefined) return named
  if (typeof found.format === "string") return found.format
  if (found.type === "array" && typeof found.items === "object" && !Array.isArray(found.items)) {
    const inner = found.items
    return `list of ${refName(inner) ?? typeName(inner)}`
  }
  if ("const" in found) return String(found.const)
  return typeName(found)
}

/** What one writes beside a label: `integer`, `date`, `list of text`. */
function typeName(schema: JsonSchema): string {
  if (typeof schema.type === "string") return TYPES[schema.type] ?? schema.type
  return schema.$ref === undefined ? "any" : (refName(schema) ?? "any")
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined
}

/** A label for a key without a title: `maxItems` and `max_items` become `Max items`. */
export function titleOf(field: Field, key: string | undefined): string {
  if (field.title !== undefined && key !== undefined && !isTypeTitle(field) && !isKeyTitle(field.title, key))
    return field.title
  if (key === undefined) return field.title ?? "Input"
  const words = key
    .replaceAll(/[_-]+/g, " ")
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .trim()
  return words === "" ? key : words.charAt(0).toUpperCase() + words.slice(1)
}

/** Pydantic's title of `maxTokens` is "Maxtokens", which is worse than the key. */
function isKeyTitle(title: string, key: string): boolean {
  const bare = (name: string) => name.replaceAll(/[\s_-]+/g, "").toLowerCase()
  return bare(title) === bare(key)
}

/** Pydantic gives a model its class name as title, which says nothing about the property that holds one. */
function isTypeTitle(field: Field): boolean {
  const last = field.node.trail.at(-1)
  return last !== undefined && last.split("/").pop() === field.title
}
