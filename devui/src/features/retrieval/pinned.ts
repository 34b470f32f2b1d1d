/**
 * Queries that are asked again and again, kept in this browser.
 *
 *     const [queries, pin] = usePinned()
 *     pin("vegan soup", true)
 */
import { useSyncExternalStore } from "react"

const KEY = "flowkit.queries"
const listeners = new Set<() => void>()
let text: string | null = null
let queries: readonly string[] = []

/** The list as it is kept; the same object as long as nothing changes. */
function read(): readonly string[] {
  const now = localStorage.getItem(KEY)
  if (now !== text) {
    text = now
    queries = parsed(now)
  }
  return queries
}

function parsed(kept: string | null): readonly string[] {
  try {
    const value: unknown = JSON.parse(kept ?? "[]")
    return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : []
  } catch {
    return []
  }
}

export function usePinned(): [readonly string[], (query: string, on: boolean) => void] {
  return [useSyncExternalStore(subscribe, read), pin]
}

function pin(query: string, on: boolean): void {
  const others = read().filter((each) => each !== query)
  localStorage.setItem(KEY, JSON.stringify(on ? [...others, query] : others))
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  window.addEventListener("storage", listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener("storage", listener)
  }
}
