/**
 * The keys of a trace. Arrows belong to the list; letters work on the whole page, except where text is typed.
 *
 *     const move = moved(event.key, rows, selected, collapsed)
 */
import { isTyping } from "@/lib/typing"
import type { TraceNode } from "./model/tree"

type Move =
  | { type: "select"; node: TraceNode }
  | { type: "toggle"; node: TraceNode }
  | { type: "details" }
  | undefined

/** What a key of the list does. */
export function moved(
  key: string,
  rows: readonly TraceNode[],
  selected: TraceNode | undefined,
  collapsed: ReadonlySet<string>,
): Move {
  const at = selected === undefined ? -1 : rows.indexOf(selected)
  const to = (index: number): Move => {
    const node = rows[Math.min(rows.length - 1, Math.max(0, index))]
    return node && { type: "select", node }
  }
  switch (key) {
    case "ArrowDown":
      return to(at + 1)
    case "ArrowUp":
      return to(at - 1)
    case "PageDown":
      return to(at + 20)
    case "PageUp":
      return to(at - 20)
    case "Home":
      return to(0)
    case "End":
      return to(rows.length - 1)
    case "Enter":
      return { type: "details" }
  }
  if (selected === undefined) return undefined
  const open = selected.below > 0 && !collapsed.has(selected.span.id)
  if (key === "ArrowRight") {
    if (selected.below === 0) return undefined
    return open ? to(at + 1) : { type: "toggle", node: selected }
  }
  if (key === "ArrowLeft") {
    if (open) return { type: "toggle", node: selected }
    return selected.parent && { type: "select", node: selected.parent }
  }
  return undefined
}

const CHORD_MS = 1200
let chord = Number.NEGATIVE_INFINITY

/** The letter belongs to the one before: `g` goes to another page with it. To be called once for each key. */
export function isChord(event: KeyboardEvent): boolean {
  const second = event.timeStamp - chord < CHORD_MS
  chord = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY
  return second
}

/** A letter that means something on this page: nobody types, and it is no shortcut of the browser. */
export function isLetter(event: KeyboardEvent): boolean {
  return !(event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target))
}
