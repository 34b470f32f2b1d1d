/**
 * What the UI knows about kinds of actions and spans: their colour, their order, their words.
 *
 *     kindColor("retriever")   // "var(--kind-retriever)"
 */
const COLOURED = new Set([
  "flow",
  "step",
  "model",
  "prompt",
  "tool",
  "retriever",
  "reranker",
  "indexer",
  "embedder",
  "evaluator",
])

/** In lists: what an app is made of first. */
export const KIND_ORDER = [
  "flow",
  "model",
  "prompt",
  "tool",
  "retriever",
  "reranker",
  "indexer",
  "embedder",
  "evaluator",
  "resource",
  "util",
] as const

const NAMES: Record<string, string> = {
  flowStep: "step",
  "executable-prompt": "prompt",
  "tool.v2": "tool",
  "background-model": "model",
}

/** The kind that is shown: variants of Genkit's kinds are one. */
export function shownKind(kind: string | null | undefined): string {
  if (kind === undefined || kind === null || kind === "") return "other"
  return NAMES[kind] ?? kind
}

/** A custom property of tokens.css; good for words and for bars, in both themes. */
export function kindColor(kind: string | null | undefined): string {
  const shown = shownKind(kind)
  return `var(--kind-${COLOURED.has(shown) ? shown : "other"})`
}

/** Kinds that are there, in the order of KIND_ORDER, then others by name. */
export function sortKinds(kinds: Iterable<string>): string[] {
  const place = (kind: string) => {
    const at = (KIND_ORDER as readonly string[]).indexOf(kind)
    return at === -1 ? KIND_ORDER.length : at
  }
  return [...kinds].sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1))
}

/** Actions without those that are a second form of another: Genkit lists each tool as `tool` and as `tool.v2`. */
export function withoutTwins<One extends { kind: string; name: string }>(actions: readonly One[]): One[] {
  const there = new Set(actions.map((action) => `${action.kind} ${action.name}`))
  return actions.filter((action) => {
    const shown = shownKind(action.kind)
    return shown === action.kind || !there.has(`${shown} ${action.name}`)
  })
}

/** How many of each kind, as it is shown. */
export function countKinds(actions: readonly { kind: string }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind } of actions) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
