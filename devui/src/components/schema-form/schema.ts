/**
 * JSON Schema as pydantic writes it, in both forms: 2020-12 with `$defs`, and draft 7 as the dev server sends it.
 *
 *     const node = rootNode(action.inputSchema)
 *     const { schema, trail } = resolved(node)
 */
import { isRecord } from "@/lib/json"

export interface JsonSchema {
  $ref?: string
  $defs?: Record<string, Schema>
  definitions?: Record<string, Schema>
  title?: string
  description?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema
  patternProperties?: Record<string, Schema>
  propertyNames?: Schema
  items?: Schema | Schema[]
  prefixItems?: Schema[]
  additionalItems?: Schema
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  discriminator?: { propertyName?: string; mapping?: Record<string, string> }
  default?: unknown
  examples?: unknown
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  contentMediaType?: string
  contentEncoding?: string
  writeOnly?: boolean
  [more: string]: unknown
}

/** `true` takes everything, `false` nothing. */
export type Schema = JsonSchema | boolean

/** A schema at one place of a document: `trail` has the references that led to it, so that recursion is seen. */
export interface Node {
  readonly schema: Schema
  readonly root: JsonSchema
  readonly trail: readonly string[]
}

/** The whole schema of an action; what is no schema takes everything. */
export function rootNode(schema: unknown): Node {
  const root: Schema = isRecord(schema) ? (schema as JsonSchema) : schema !== false
  return { schema: root, root: typeof root === "boolean" ? {} : root, trail: [] }
}

export function child(parent: Node, schema: Schema): Node {
  return { schema, root: parent.root, trail: parent.trail }
}

/** References followed, and `allOf` put together where all of it is plain. What stands beside a reference wins. */
export function resolved(node: Node): { schema: JsonSchema; node: Node } {
  let { schema, trail } = node
  let beside: JsonSchema = {}
  for (let steps = 0; steps < 32; steps++) {
    if (typeof schema === "boolean")
      return { schema: schema ? beside : { not: {}, ...beside }, node: { ...node, trail } }
    if (typeof schema.$ref === "string") {
      const { $ref, ...others } = schema
      beside = { ...others, ...beside }
      trail = [...trail, $ref]
      const found = pointed(node.root, $ref)
      if (found === undefined) return { schema: { $unresolved: $ref, ...beside }, node: { ...node, trail } }
      schema = found
      continue
    }
    if (schema.allOf?.length === 1 && schema.allOf[0] !== undefined) {
      const { allOf, ...others } = schema
      beside = { ...others, ...beside }
      schema = allOf[0] as Schema
      continue
    }
    return { schema: { ...schema, ...beside }, node: { ...node, trail } }
  }
  return { schema: { $unresolved: "a circle of references", ...beside }, node: { ...node, trail } }
}

function pointed(root: JsonSchema, ref: string): Schema | undefined {
  if (ref === "#") return root
  if (!ref.startsWith("#/")) return undefined
  let at: unknown = root
  for (const step of ref.slice(2).split("/")) {
    if (!isRecord(at)) return undefined
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")
    // `$defs` became `definitions` on the way, or the other way round.
    at = at[key] ?? (key === "$defs" ? at.definitions : key === "definitions" ? at.$defs : undefined)
  }
  return isRecord(at) || typeof at === "boolean" ? (at as Schema) : undefined
}

/** The last part of a reference: `#/definitions/Dish` is about a Dish. */
export function refName(schema: Schema): string | undefined {
  if (typeof schema === "boolean" || typeof schema.$ref !== "string") return undefined
  return schema.$ref.split("/").pop()
}
