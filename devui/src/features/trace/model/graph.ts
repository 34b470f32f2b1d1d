/**
 * Who called whom how often, seen in one trace: actions as points, calls as lines.
 *
 *     const { points, lines } = callsOf(tree)
 */
import { tookOf } from "./span"
import type { TraceNode, Tree } from "./tree"

interface Point {
  id: string
  name: string
  label: string
  count: number
  errors: number
  totalMs: number
  running: boolean
  /** The first of its spans, to go to. */
  first: TraceNode
}

interface Line {
  from: string
  to: string
  count: number
  errors: number
}

/** What makes two spans the same action: its key, else what it is and is called. */
export const identity = ({ span }: TraceNode) => span.key ?? `${span.label}:${span.name}`

export function callsOf(tree: Tree): { points: readonly Point[]; lines: readonly Line[] } {
  const points = new Map<string, Point>()
  const lines = new Map<string, Line>()
  for (const node of tree.nodes) {
    const { span, parent } = node
    const id = identity(node)
    const failed = span.state === "error" ? 1 : 0
    let point = points.get(id)
    if (point === undefined) {
      point = {
        id,
        name: span.name,
        label: span.label,
        count: 0,
        errors: 0,
        totalMs: 0,
        running: false,
        first: node,
      }
      points.set(id, point)
    }
    point.count += 1
    point.errors += failed
    point.running ||= span.end === undefined
    point.totalMs += tookOf(span) ?? 0
    if (parent === undefined) continue
    const from = identity(parent)
    const key = `${from}\n${id}`
    const line = lines.get(key) ?? { from, to: id, count: 0, errors: 0 }
    lines.set(key, { ...line, count: line.count + 1, errors: line.errors + failed })
  }
  return { points: [...points.values()], lines: [...lines.values()] }
}
