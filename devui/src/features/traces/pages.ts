/**
 * The way back through pages: a cursor leads on only, so the one before is remembered for this tab.
 *
 *     rememberPage(next, current)
 *     pageBefore({ cursor: next })    // current
 */
import type { Search } from "./filter"

const KEY = "flowkit.traces.pages"
const MOST = 200

function known(): [string, string][] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]")
    return Array.isArray(kept) ? (kept as [string, string][]) : []
  } catch {
    return []
  }
}

export function rememberPage(cursor: string, before: string | undefined): void {
  const others = known().filter(([one]) => one !== cursor)
  sessionStorage.setItem(KEY, JSON.stringify([...others, [cursor, before ?? ""]].slice(-MOST)))
}

/** Undefined for the first page, and where nothing is remembered. */
export function pageBefore(search: Search): string | undefined {
  return known().find(([cursor]) => cursor === search.cursor)?.[1] || undefined
}
