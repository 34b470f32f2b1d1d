/**
 * An input made up of what a schema tells: its examples, defaults, choices and bounds.
 *
 *     exampleOf(rootNode(schema))      { name: "…", count: 1 }
 */
import { describe } from "@/components/schema-form/fields"
import type { Node } from "@/components/schema-form/schema"
import { fromEntries, startOption } from "@/components/schema-form/values"

/** undefined: there is nothing sensible to say. Only what is required is given. */
export function exampleOf(node: Node, depth = 0): unknown {
  const field = describe(node)
  if (field.examples.length > 0) return field.examples[0]
  if (field.hasDefault && field.default !== null) return field.default
  if (depth > 4) return undefined
  const { schema } = field
  switch (field.kind) {
    case "const":
      return field.value
    case "choice":
      return field.values[0]
    case "boolean":
      return false
    case "null":
      return null
    case "number":
      return (
        schema.minimum ??
        (schema.exclusiveMinimum === undefined
          ? Math.min(1, schema.maximum ?? 1)
          : schema.exclusiveMinimum + 1)
      )
    case "string":
      return exampleText(field.input, schema.minLength ?? 1)
    case "array": {
      const item = exampleOf(field.items, depth + 1)
      return item === undefined ? [] : [item]
    }
    case "tuple":
      return field.items.map((item) => exampleOf(item, depth + 1) ?? null)
    case "map":
      return {}
    case "object": {
      const known = field.properties
        .filter(({ required }) => required)
        .map(({ key, node: inner }) => [key, exampleOf(inner, depth + 1)] as const)
      return fromEntries(known.filter(([, value]) => value !== undefined))
    }
    case "union": {
      const [first] = field.options
      return first === undefined ? undefined : (exampleOf(first.node, depth + 1) ?? startOption(first))
    }
    default:
      return undefined
  }
}

function exampleText(input: string, least: number): string {
  switch (input) {
    case "date":
      return new Date().toISOString().slice(0, 10)
    case "date-time":
      return `${new Date().toISOString().slice(0, 19)}Z`
    case "time":
      return "12:00:00"
    case "uri":
      return "https://example.com/"
    case "email":
      return "ada@example.com"
    case "file":
      return ""
    default:
      return "text".padEnd(least, " text")
  }
}
