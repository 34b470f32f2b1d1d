/**
 * A whole trace in a few hundred strokes, whatever its size.
 *
 *     strokesOf(rows, scale, now)    // [{row: 3, left: 0.2, width: 0.01, label: "model", failed: false}, …]
 */
import { barOf, type Scale, WHOLE } from "./time"
import type { TraceNode } from "./tree"

interface Stroke {
  /** 0 … ROWS - 1, from the top. */
  row: number
  left: number
  width: number
  label: string
  failed: boolean
}

export const ROWS = 14
const COLUMNS = 160

export function strokesOf(rows: readonly TraceNode[], scale: Scale, now: number): readonly Stroke[] {
  const found = new Map<string, Stroke>()
  rows.forEach((node, index) => {
    const bar = barOf(scale, WHOLE, node.start, node.span.end ?? now)
    const row = rows.length <= ROWS ? index : Math.floor((index * ROWS) / rows.length)
    const first = Math.floor(bar.left * COLUMNS)
    const last = Math.max(first + 1, Math.ceil((bar.left + bar.width) * COLUMNS))
    const failed = node.span.state === "error"
    const key = `${row} ${first} ${last}`
    if (found.has(key) && !failed) return
    found.set(key, {
      row,
      left: first / COLUMNS,
      width: (last - first) / COLUMNS,
      label: node.span.label,
      failed,
    })
  })
  // Long strokes first, so that short ones are seen on them.
  return [...found.values()]
    .sort((a, b) => Number(a.failed) - Number(b.failed) || b.width - a.width)
    .slice(0, 1500)
}
