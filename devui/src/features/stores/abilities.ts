/**
 * What a store cannot do, in sentences.
 *
 *     missing(store)   // ["It does not search by words.", …]
 */
import type { StoreData } from "@/api/schema"

const MODES: Record<string, string> = {
  vector: "search by meaning",
  keyword: "search by words",
  hybrid: "search by meaning and words together",
}

/** Sentences for a person; empty when the store can do everything. */
export function missing(store: StoreData): string[] {
  const { modes, unsupportedFilters, writes, exact } = store.abilities
  const found: string[] = []
  const lacks = Object.keys(MODES).filter((mode) => !(modes as string[]).includes(mode))
  if (lacks.length > 0)
    found.push(
      `It cannot ${listed(
        lacks.map((mode) => MODES[mode] ?? mode),
        "or",
      )}.`,
    )
  if (unsupportedFilters.length > 0) found.push(`Filters cannot have ${listed(unsupportedFilters, "or")}.`)
  if (!writes) found.push("Nothing can be deleted from it here.")
  if (!exact) found.push("Its vector search is approximate: it may miss a near document.")
  return found
}

function listed(words: readonly string[], last: "and" | "or"): string {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`
}
