/**
 * Filters with a name, kept in this browser.
 *
 *     save("slow errors", { status: "error", minMs: "1000" })
 */
import { FILTERS, type Search } from "./filter"

interface Saved {
  name: string
  search: Search
}

const KEY = "flowkit.traces.filters"

export function savedFilters(): readonly Saved[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]")
    if (!Array.isArray(kept)) return []
    return kept.flatMap((item) => {
      if (typeof item?.name !== "string" || typeof item.search !== "object" || item.search === null) return []
      const search = FILTERS.flatMap((name) =>
        typeof item.search[name] === "string" ? [[name, item.search[name]]] : [],
      )
      return [{ name: item.name, search: Object.fromEntries(search) as Search }]
    })
  } catch {
    return []
  }
}

/** The newest with a name replaces the one before. */
export function save(name: string, search: Search): readonly Saved[] {
  return keep([...savedFilters().filter((one) => one.name !== name), { name, search }])
}

export function forget(name: string): readonly Saved[] {
  return keep(savedFilters().filter((one) => one.name !== name))
}

function keep(filters: readonly Saved[]): readonly Saved[] {
  localStorage.setItem(KEY, JSON.stringify(filters))
  return filters
}
