/** What a reload has changed, in words: `Reloaded · 2 actions added, 1 changed`. */
export interface Changes {
  added: readonly string[]
  removed: readonly string[]
  changed: readonly string[]
}

export function reloadText({ added, removed, changed }: Changes): string {
  const parts = [
    [added.length, "added"],
    [removed.length, "removed"],
    [changed.length, "changed"],
  ] as const
  const told = parts.filter(([count]) => count > 0)
  if (told.length === 0) return "Reloaded · no action changed"
  const [[first, how] = [0, ""], ...rest] = told
  return `Reloaded · ${[`${first} ${first === 1 ? "action" : "actions"} ${how}`, ...rest.map(([count, word]) => `${count} ${word}`)].join(", ")}`
}
