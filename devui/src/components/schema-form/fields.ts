/**
 * What a form shows for a schema: one field for each place, described when it is reached, so that recursive schemas end.
 *
 *     const field = describe(rootNode(schema))
 *     if (field.kind === "object") for (const { key, node } of field.properties) describe(node)
 */

import { isRecord } from "@/lib/json"
import { optionLabel, text } from "./labels"
import { child, type JsonSchema, type Node, resolved, type Schema } from "./schema"

interface Property {
  readonly key: string
  readonly node: Node
  readonly required: boolean
}

export interface Option {
  readonly label: string
  readonly node: Node
  /** What tells the option in a discriminated union. */
  readonly tag: { readonly property: string; readonly values: readonly unknown[] } | undefined
}

interface Common {
  readonly title: string | undefined
  readonly description: string | undefined
  /** null is a value of it. */
  readonly nullable: boolean
  readonly hasDefault: boolean
  readonly default: unknown
  readonly examples: readonly unknown[]
  /** The schema without references and without null. */
  readonly schema: JsonSchema
  readonly node: Node
}

export type Field = Common &
  (
    | { readonly kind: "object"; readonly properties: readonly Property[]; readonly extra: Node | undefined }
    | { readonly kind: "map"; readonly values: Node }
    | { readonly kind: "array"; readonly items: Node }
    | { readonly kind: "tuple"; readonly items: readonly Node[]; readonly rest: Node | undefined }
    | { readonly kind: "union"; readonly options: readonly Option[] }
    | { readonly kind: "choice"; readonly values: readonly unknown[] }
    | { readonly kind: "const"; readonly value: unknown }
    | { readonly kind: "boolean" | "null" }
    | { readonly kind: "number"; readonly integer: boolean }
    | { readonly kind: "string"; readonly input: TextInput }
    | { readonly kind: "json"; readonly why: string }
  )

type TextInput =
  | "text"
  | "long"
  | "date"
  | "time"
  | "date-time"
  | "uri"
  | "email"
  | "password"
  | "path"
  | "file"

/** How often one reference may stand inside itself before its value is edited as JSON. */
const RECURSION = 2

export function describe(node: Node): Field {
  const { schema: whole, node: outer } = resolved(node)
  const { schema, nullable, node: at } = withoutNull(whole, outer)
  const common: Common = {
    title: text(whole.title) ?? text(schema.title),
    description: text(whole.description) ?? text(schema.description),
    nullable,
    hasDefault: "default" in whole,
    default: whole.default,
    examples: Array.isArray(whole.examples)
      ? whole.examples
      : isRecord(whole.examples)
        ? Object.values(whole.examples)
        : [],
    schema,
    node: at,
  }
  const last = at.trail.at(-1)
  if (last !== undefined && at.trail.filter((ref) => ref === last).length > RECURSION)
    return { ...common, kind: "json", why: "it holds itself" }
  return { ...common, ...shape(schema, at) } as Field
}

/** `anyOf [T, null]` is T, and may be null. */
function withoutNull(schema: JsonSchema, node: Node): { schema: JsonSchema; nullable: boolean; node: Node } {
  if (Array.isArray(schema.type) && schema.type.includes("null") && schema.type.length > 1) {
    const types = schema.type.filter((type) => type !== "null")
    const inner: JsonSchema = { ...schema, type: types.length === 1 ? (types[0] as string) : types }
    if (inner.enum) inner.enum = inner.enum.filter((value) => value !== null)
    return { schema: inner, nullable: true, node }
  }
  const options = schema.anyOf ?? schema.oneOf
  if (options === undefined) {
    if (schema.enum?.includes(null) && schema.enum.length > 1)
      return {
        schema: { ...schema, enum: schema.enum.filter((value) => value !== null) },
        nullable: true,
        node,
      }
    return { schema, nullable: false, node }
  }
  const others = options.filter((option) => !isNull(option))
  if (others.length === options.length || others.length === 0) return { schema, nullable: false, node }
  if (others.length !== 1) {
    const { anyOf: _any, oneOf: _one, ...rest } = schema
    return { schema: { ...rest, anyOf: others }, nullable: true, node }
  }
  const { anyOf: _any, oneOf: _one, default: _default, ...outer } = schema
  const inner = resolved(child(node, others[0] as Schema))
  const again = withoutNull(inner.schema, inner.node)
  return { schema: { ...again.schema, ...outer }, nullable: true, node: again.node }
}

function isNull(schema: Schema): boolean {
  return (
    typeof schema !== "boolean" && (schema.type === "null" || ("const" in schema && schema.const === null))
  )
}

type Shape<F = Field> = F extends unknown ? Omit<F, keyof Common> : never

function shape(schema: JsonSchema, at: Node): Shape {
  if (schema.$unresolved !== undefined) return { kind: "json", why: "its schema is not there" }
  if ("const" in schema) return { kind: "const", value: schema.const }
  if (Array.isArray(schema.enum))
    return schema.enum.length === 1
      ? { kind: "const", value: schema.enum[0] }
      : { kind: "choice", values: schema.enum }
  const options = schema.oneOf ?? schema.anyOf
  if (options !== undefined) return union(schema, options, at)
  if (schema.allOf !== undefined || schema.not !== undefined || schema.if !== undefined)
    return { kind: "json", why: "several schemas hold at once" }
  switch (schema.type) {
    case "string":
      return { kind: "string", input: textInput(schema) }
    case "integer":
    case "number":
      return { kind: "number", integer: schema.type === "integer" }
    case "boolean":
      return { kind: "boolean" }
    case "null":
      return { kind: "null" }
    case "array":
      return list(schema, at)
    case "object":
      return record(schema, at)
    case undefined:
      if (schema.properties !== undefined) return record(schema, at)
      return { kind: "json", why: "it takes any value" }
    default:
      if (Array.isArray(schema.type)) {
        const each = schema.type.map(
          (type) => ({ ...schema, type, title: undefined }) as unknown as JsonSchema,
        )
        return union(schema, each, at)
      }
      return { kind: "json", why: `there is no type ${String(schema.type)}` }
  }
}

function record(schema: JsonSchema, at: Node): Shape {
  const listed = Object.entries(schema.properties ?? {})
  const more = schema.additionalProperties
  if (listed.length === 0) {
    if (schema.patternProperties !== undefined) {
      const values = Object.values(schema.patternProperties)
      return values.length === 1
        ? { kind: "map", values: child(at, values[0] as Schema) }
        : { kind: "json", why: "its keys have patterns" }
    }
    if (more === undefined) return { kind: "json", why: "it takes any object" }
    if (more === true) return { kind: "map", values: child(at, true) }
    if (more !== false) return { kind: "map", values: child(at, more) }
  }
  const required = new Set(schema.required ?? [])
  const properties = listed.map(([key, inner]) => ({
    key,
    node: child(at, inner),
    required: required.has(key),
  }))
  return { kind: "object", properties, extra: more === false ? undefined : child(at, more ?? true) }
}

function list(schema: JsonSchema, at: Node): Shape {
  const first = schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : undefined)
  if (first !== undefined) {
    const rest =
      schema.prefixItems === undefined ? schema.additionalItems : (schema.items as Schema | undefined)
    const fixed = rest === false || schema.maxItems === first.length
    return {
      kind: "tuple",
      items: first.map((item) => child(at, item)),
      rest: fixed ? undefined : child(at, rest ?? true),
    }
  }
  return { kind: "array", items: child(at, (schema.items as Schema | undefined) ?? true) }
}

function union(schema: JsonSchema, options: readonly Schema[], at: Node): Shape {
  const consts = options.map((option) => resolved(child(at, option)).schema)
  if (consts.every((option) => "const" in option || Array.isArray(option.enum)))
    return {
      kind: "choice",
      values: consts.flatMap((option) => ("const" in option ? [option.const] : (option.enum ?? []))),
    }
  const property = schema.discriminator?.propertyName ?? commonTag(consts)
  const labels = options.map((option, index) => optionLabel(option, consts[index] as JsonSchema))
  return {
    kind: "union",
    options: options.map((option, index) => {
      const found = consts[index] as JsonSchema
      const values = property === undefined ? undefined : tagValues(found, property, at)
      const label = labels[index] as string
      const again = labels.filter((other) => other === label).length > 1
      return {
        label: again ? `${label} ${index + 1}` : label,
        node: child(at, option),
        tag: property !== undefined && values !== undefined ? { property, values } : undefined,
      }
    }),
  }
}

/** A property whose constant differs in every option tells them apart, whether or not the schema says so. */
function commonTag(options: readonly JsonSchema[]): string | undefined {
  const [first] = options
  return Object.keys(first?.properties ?? {}).find((key) => {
    const values = options.map((option) => {
      const property = option.properties?.[key]
      return typeof property === "object" && "const" in property ? JSON.stringify(property.const) : undefined
    })
    return values.every((value) => value !== undefined) && new Set(values).size === values.length
  })
}

function tagValues(schema: JsonSchema, property: string, at: Node): readonly unknown[] | undefined {
  const inner = schema.properties?.[property]
  if (inner === undefined) return undefined
  const { schema: tag } = resolved(child(at, inner))
  if ("const" in tag) return [tag.const]
  return Array.isArray(tag.enum) ? tag.enum : undefined
}

function textInput(schema: JsonSchema): TextInput {
  if (schema.contentEncoding === "base64" || schema.format === "base64" || schema.format === "base64url")
    return "file"
  switch (schema.format) {
    case "date":
    case "time":
    case "date-time":
    case "email":
    case "password":
      return schema.format
    case "uri":
    case "url":
    case "uri-reference":
      return "uri"
    case "path":
    case "file-path":
      return "path"
    case "multiline":
    case "multi-line":
    case "textarea":
    case "markdown":
      return "long"
  }
  if (schema.writeOnly === true) return "password"
  if (schema.contentMediaType !== undefined || (schema.maxLength ?? 0) > 200) return "long"
  return "text"
}
