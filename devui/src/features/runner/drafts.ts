/**
 * What was typed for an action and not yet run: kept in this browser, for each action.
 *
 *     saveDraft("/flow/menuQA", { text: '"What is vegan?"', mode: "form" })
 */
export type Mode = "form" | "json"

interface Draft {
  /** The input as JSON; empty: none. */
  text: string
  mode: Mode
  /** The context as JSON. */
  context: string
}

const PREFIX = "flowkit.draft."
// Browsers keep some 5 MB for a page in all.
const LARGEST = 300_000

export function draftOf(key: string): Draft | undefined {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(PREFIX + key) ?? "null")
    if (typeof kept !== "object" || kept === null) return undefined
    const { text, mode, context } = kept as Partial<Draft>
    if (typeof text !== "string") return undefined
    return {
      text,
      mode: mode === "json" ? "json" : "form",
      context: typeof context === "string" ? context : "",
    }
  } catch {
    return undefined
  }
}

/** False when it is too large, or the browser keeps nothing. */
export function saveDraft(key: string, draft: Draft): boolean {
  try {
    if (draft.text.length + draft.context.length > LARGEST) throw new RangeError("too large")
    if (draft.text === "" && draft.context === "") localStorage.removeItem(PREFIX + key)
    else localStorage.setItem(PREFIX + key, JSON.stringify(draft))
    return true
  } catch {
    localStorage.removeItem(PREFIX + key)
    return false
  }
}
