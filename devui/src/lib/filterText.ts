/**
 * Writing conditions in the filter language: `price < 10 AND cuisine = 'thai'`.
 *
 *     joined("price < 10", condition("cuisine", "=", "thai"))
 */
type FilterValue = string | number | boolean
export type FilterOperator = "=" | "!=" | "<" | "<=" | ">" | ">=" | "IN" | "CONTAINS"

// Words of the language; a key that is one of them stands in quotes.
const WORDS = new Set(["and", "or", "not", "in", "between", "contains", "select", "true", "false", "null"])

function key(name: string): string {
  const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !WORDS.has(name.toLowerCase())
  return plain ? name : `"${name.replaceAll('"', '""')}"`
}

function literal(value: FilterValue): string {
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`
  return String(value)
}

/** One condition; lists of values are joined for `IN`. */
export function condition(
  name: string,
  operator: FilterOperator,
  value: FilterValue | readonly FilterValue[],
): string {
  const values = Array.isArray(value) ? (value as FilterValue[]) : [value as FilterValue]
  if (operator === "IN") return `${key(name)} IN (${values.map(literal).join(", ")})`
  return `${key(name)} ${operator} ${literal(values[0] ?? "")}`
}

/** A filter with one more condition; one that is there already is not added again. */
export function joined(filter: string, more: string): string {
  const before = filter.trim()
  if (before === "") return more
  if (before === more || before.split(/\s+AND\s+/i).includes(more)) return before
  return /\bOR\b/i.test(before) ? `(${before}) AND ${more}` : `${before} AND ${more}`
}

/** What was typed as a value of one of the types that the key has had. */
export function typedValue(text: string, types: readonly string[]): FilterValue {
  const word = text.trim()
  if (types.includes("bool") && /^(true|false)$/i.test(word)) return word.toLowerCase() === "true"
  if (types.includes("number") && word !== "" && Number.isFinite(Number(word))) return Number(word)
  return text
}
