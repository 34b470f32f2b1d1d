/** Light, dark or as the system has it; kept in this browser. */
import { useSyncExternalStore } from "react"

export type Theme = "system" | "light" | "dark"

const KEY = "flowkit.theme"
const watchers = new Set<() => void>()

function theme(): Theme {
  const kept = localStorage.getItem(KEY)
  return kept === "light" || kept === "dark" ? kept : "system"
}

export function applyTheme(chosen: Theme = theme()): void {
  if (chosen === "system") {
    localStorage.removeItem(KEY)
    delete document.documentElement.dataset.theme
  } else {
    localStorage.setItem(KEY, chosen)
    document.documentElement.dataset.theme = chosen
  }
  for (const watcher of watchers) watcher()
}

/** What was chosen. */
export function useTheme(): Theme {
  return useSyncExternalStore((watcher) => {
    watchers.add(watcher)
    return () => watchers.delete(watcher)
  }, theme)
}
