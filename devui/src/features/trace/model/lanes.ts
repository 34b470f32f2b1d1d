/**
 * A trace as a picture of levels: each span below its parent, those at the same time in rows of their own.
 *
 *     const rows = lanesOf(tree, now)
 *     drawn(rows[0], scale, window, 900)     // bars, with those too small to see as one
 */
import { barOf, type Scale, type Window } from "./time"
import type { TraceNode, Tree } from "./tree"

/** Rows from the top, each with spans that do not overlap, by start. */
export function lanesOf(tree: Tree, now: number): readonly (readonly TraceNode[])[] {
  const rows: TraceNode[][] = []
  const ends: number[] = []
  const row = new Map<TraceNode, number>()
  const byStart = [...tree.nodes].sort((a, b) => a.start - b.start || a.index - b.index)
  for (const node of byStart) {
    let at = node.parent === undefined ? 0 : (row.get(node.parent) ?? 0) + 1
    while ((ends[at] ?? Number.NEGATIVE_INFINITY) > node.start) at++
    row.set(node, at)
    ends[at] = Math.max(node.span.end ?? now, node.start)
    while (rows.length <= at) rows.push([])
    rows[at]?.push(node)
  }
  return rows
}

export interface Drawn {
  node: TraceNode
  left: number
  width: number
  /** How many spans this bar stands for. */
  count: number
  failed: boolean
}

/** The bars of a row on a lane of so many pixels; spans below two pixels that touch are one bar. */
export function drawn(
  row: readonly TraceNode[],
  scale: Scale,
  window: Window,
  pixels: number,
  now: number,
): readonly Drawn[] {
  const bars: Drawn[] = []
  const least = 2 / Math.max(pixels, 1)
  for (const node of row) {
    const bar = barOf(scale, window, node.start, node.span.end ?? now)
    if (bar.outside) continue
    const failed = node.span.state === "error"
    const last = bars.at(-1)
    if (
      last !== undefined &&
      bar.width < least &&
      last.width < 3 * least &&
      bar.left - (last.left + last.width) < least
    ) {
      last.width = Math.max(last.width, bar.left + bar.width - last.left)
      last.count += 1
      last.failed ||= failed
    } else {
      bars.push({ node, left: bar.left, width: bar.width, count: 1, failed })
    }
  }
  return bars
}
