/**
 * What a retriever may be told beside the query, and its input made of it.
 *
 *     const known = optionsOf(action)     // {where: true, modes: ["vector", …], k: {most: 1000}, rest: schema}
 *     inputOf(known, { q, k, where, options })
 */
import type { ActionData } from "@/api/schema"
import { isRecord, textOfParts } from "@/lib/json"

type Schema = Record<string, unknown>

type Options = {
  /** It takes a number of documents, and how many it returns when it is not told. */
  k: { default: number; most: number } | undefined
  where: boolean
  /** The ways of searching to choose from. */
  modes: string[]
  /** The schema of all others; undefined when there are none. */
  rest: Schema | undefined
}

export type Asked = { q: string; k: number; where: string; options: Record<string, unknown> }

export function optionsOf(action: ActionData): Options {
  const own = action.metadata?.[action.kind]
  const told = isRecord(own) && isRecord(own.customOptions) ? own.customOptions : undefined
  const schema = told ?? {}
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const { k, where, mode, ...others } = properties
  const modes = choices(mode)
  const rest = mode === undefined || modes.length > 0 ? others : { mode, ...others }
  // A schema without properties is that of a function that takes no options at all.
  const closed =
    schema.additionalProperties === false || (told !== undefined && Object.keys(properties).length === 0)
  return {
    k:
      k === undefined && closed
        ? undefined
        : {
            default: number(isRecord(k) ? k.default : undefined, 3),
            most: number(isRecord(k) ? k.maximum : undefined, 1000),
          },
    where: where !== undefined,
    modes,
    rest:
      Object.keys(rest).length === 0
        ? undefined
        : { ...schema, properties: rest, required: required(schema).filter((name) => name in rest) },
  }
}

export function inputOf(known: Options, asked: Asked): Record<string, unknown> {
  const options: Record<string, unknown> = { ...asked.options }
  if (known.k !== undefined) options.k = asked.k
  if (known.where && asked.where.trim() !== "") options.where = asked.where.trim()
  const query = { content: [{ text: asked.q }] }
  return Object.keys(options).length === 0 ? { query } : { query, options }
}

/** What an earlier input has asked; for "Open in runner". */
export function askedOf(input: unknown): Partial<Asked> {
  if (!isRecord(input)) return {}
  const q = isRecord(input.query) ? textOfParts(input.query.content) : ""
  const { k, where, ...options } = isRecord(input.options) ? input.options : ({} as Schema)
  return {
    q,
    ...(typeof k === "number" ? { k } : {}),
    ...(typeof where === "string" ? { where } : {}),
    options:
      where !== undefined && typeof where !== "string" && where !== null ? { ...options, where } : options,
  }
}

function choices(schema: unknown): string[] {
  if (!isRecord(schema)) return []
  const branches = Array.isArray(schema.anyOf) ? schema.anyOf : [schema]
  return branches
    .flatMap((branch) => (isRecord(branch) && Array.isArray(branch.enum) ? branch.enum : []))
    .filter((each): each is string => typeof each === "string")
}

const number = (value: unknown, otherwise: number) => (typeof value === "number" ? value : otherwise)
const required = (schema: Schema) => (Array.isArray(schema.required) ? schema.required.map(String) : [])

/** Options out of an address; what is no JSON object is none. */
export function readOptions(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

export function writeOptions(options: Record<string, unknown>): string | undefined {
  const kept = Object.entries(options).filter(([, value]) => value !== undefined)
  return kept.length === 0 ? undefined : JSON.stringify(Object.fromEntries(kept))
}
