/**
 * What is seen of a trace: which rows, which part of the time, which span is selected.
 *
 *     const view = useTraceView(trace, now, selected)
 */
import { useDeferredValue, useMemo, useState } from "react"
import { idleOf, scaleOf, WHOLE, type Window } from "./model/time"
import { failing, matches, parents, type TraceNode, type Tree, visibleRows } from "./model/tree"

const OFFERED_ABOVE = 0.6
const NOTHING: ReadonlySet<string> = new Set()

export function useTraceView(tree: Tree, running: boolean, now: number, selectedId: string | undefined) {
  const [collapsed, setCollapsed] = useState(NOTHING)
  const [query, setQuery] = useState("")
  const [window, setWindow] = useState<Window>(WHOLE)
  const [compressed, setCompressed] = useState(false)
  const [hovered, setHovered] = useState<TraceNode | undefined>()

  const searched = useDeferredValue(query)
  const found = useMemo(() => matches(tree, searched), [tree, searched])
  const rows = useMemo(() => visibleRows(tree, collapsed, found), [tree, collapsed, found])
  // Recounting a trace that grows would move the offer about.
  const idle = useMemo(() => (running ? { gaps: [], share: 0 } : idleOf(tree, tree.end)), [tree, running])
  const end = running ? Math.max(now, tree.end) : tree.end
  const scale = useMemo(
    () => scaleOf(tree.start, end, compressed ? idle.gaps : []),
    [tree.start, end, compressed, idle],
  )
  const wished = selectedId === undefined ? undefined : tree.byId.get(selectedId)
  const failed = useMemo(() => (running ? undefined : failing(tree)), [tree, running])

  return {
    rows,
    found,
    query,
    setQuery,
    collapsed,
    window,
    setWindow,
    scale,
    end,
    idle,
    offersCompression: idle.share > OFFERED_ABOVE && idle.gaps.length > 0,
    compressed,
    setCompressed(now: boolean) {
      setCompressed(now)
      setWindow(WHOLE)
    },
    hovered,
    setHovered,
    selected: wished,
    failed,
    toggle(node: TraceNode) {
      setCollapsed((before) => {
        const after = new Set(before)
        if (!after.delete(node.span.id)) after.add(node.span.id)
        return after
      })
    },
    collapseAll: () => setCollapsed(parents(tree)),
    expandAll: () => setCollapsed(NOTHING),
    /** Opens what is above a span, so that it is seen. */
    reveal(node: TraceNode) {
      setCollapsed((before) => {
        const after = new Set(before)
        for (let above = node.parent; above !== undefined; above = above.parent) after.delete(above.span.id)
        return after.size === before.size ? before : after
      })
    },
  }
}
