/**
 * Which action a span can be run again with: its own, or for a step that of what it belongs to.
 *
 *     runTarget(node)    // { path: "/run/flow/menuQA", span, own: true }
 */
import { runPath } from "@/lib/paths"
import type { Span } from "../model/span"
import type { TraceNode } from "../model/tree"

interface RunTarget {
  path: string
  key: string
  span: Span
  own: boolean
}

export function runTarget(node: TraceNode): RunTarget | undefined {
  for (let at: TraceNode | undefined = node; at !== undefined; at = at.parent) {
    const { span } = at
    if (span.key !== undefined && span.type !== "external") {
      return { path: runPath(span.key), key: span.key, span, own: at === node }
    }
  }
  return undefined
}
