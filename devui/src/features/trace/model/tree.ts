/**
 * The tree of a trace: who called whom, in which order, and what is below.
 *
 *     const tree = treeOf(spans)
 *     const rows = visibleRows(tree, collapsed)
 *
 * Without recursion: a trace may be 50,000 spans deep.
 */
import { type Span, type Tokens, tokensOf } from "./span"

export interface TraceNode {
  span: Span
  /** Place in `tree.nodes`. */
  index: number
  parent: TraceNode | undefined
  children: TraceNode[]
  depth: number
  /** As it is drawn: never before its parent. */
  start: number
  /** How many spans are below. */
  below: number
  /** Something below has failed. */
  failedBelow: boolean
  /** Of models here and below. */
  tokens: Tokens | undefined
  /** Its parent is not in the store. */
  orphan: boolean
}

export interface Tree {
  /** Parents before children, siblings by start. */
  nodes: readonly TraceNode[]
  roots: readonly TraceNode[]
  byId: ReadonlyMap<string, TraceNode>
  start: number
  /** The latest time that is known. */
  end: number
  running: boolean
  /** How many spans hang in the air. */
  orphans: number
}

export function treeOf(spans: Iterable<Span>): Tree {
  const sorted = [...spans].sort((a, b) => a.start - b.start)
  const byId = new Map<string, TraceNode>()
  for (const span of sorted) {
    byId.set(span.id, {
      span,
      index: 0,
      parent: undefined,
      children: [],
      depth: 0,
      start: span.start,
      below: 0,
      failedBelow: false,
      tokens: undefined,
      orphan: false,
    })
  }
  const roots: TraceNode[] = []
  for (const node of byId.values()) {
    const parent = node.span.parentId === undefined ? undefined : byId.get(node.span.parentId)
    if (parent === undefined || parent === node) {
      node.orphan = node.span.parentId !== undefined && parent !== node
      roots.push(node)
    } else {
      node.parent = parent
      parent.children.push(node)
    }
  }
  const nodes = ordered(roots, byId)
  sumUp(nodes)
  let end = Number.NEGATIVE_INFINITY
  let running = false
  for (const { span } of nodes) {
    end = Math.max(end, span.end ?? span.start)
    running ||= span.end === undefined
  }
  const start = nodes.length === 0 ? 0 : Math.min(...roots.map((node) => node.start))
  // An only root whose parent is elsewhere is where this process took over: nothing is missing then.
  const orphans = roots.length > 1 ? roots.filter((node) => node.orphan).length : 0
  return { nodes, roots, byId, start, end: nodes.length === 0 ? 0 : end, running, orphans }
}

/** Pre-order. Spans in a circle, of damaged data, become roots. */
function ordered(roots: TraceNode[], byId: ReadonlyMap<string, TraceNode>): TraceNode[] {
  const nodes: TraceNode[] = []
  const seen = new Set<TraceNode>()
  const walk = (root: TraceNode) => {
    const stack = [root]
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (seen.has(node)) continue
      seen.add(node)
      node.index = nodes.length
      if (node.parent !== undefined) {
        node.depth = node.parent.depth + 1
        node.start = Math.max(node.start, node.parent.start)
      }
      nodes.push(node)
      for (let at = node.children.length - 1; at >= 0; at--) stack.push(node.children[at] as TraceNode)
    }
  }
  for (const root of roots) walk(root)
  if (seen.size < byId.size) {
    for (const node of byId.values()) {
      if (seen.has(node)) continue
      const parent = node.parent
      if (parent !== undefined) parent.children = parent.children.filter((child) => child !== node)
      node.parent = undefined
      node.orphan = true
      roots.push(node)
      walk(node)
    }
  }
  return nodes
}

function sumUp(nodes: readonly TraceNode[]): void {
  for (let at = nodes.length - 1; at >= 0; at--) {
    const node = nodes[at] as TraceNode
    const own = node.span.kind === "model" ? tokensOf(node.span) : undefined
    node.tokens = plus(node.tokens, own)
    const parent = node.parent
    if (parent === undefined) continue
    parent.below += node.below + 1
    parent.failedBelow ||= node.failedBelow || node.span.state === "error"
    parent.tokens = plus(parent.tokens, node.tokens)
  }
}

function plus(a: Tokens | undefined, b: Tokens | undefined): Tokens | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return { input: a.input + b.input, output: a.output + b.output }
}

/** The rows that are shown: nothing below a collapsed span; with `only`, those and what is above them. */
export function visibleRows(
  tree: Tree,
  collapsed: ReadonlySet<string>,
  only?: ReadonlySet<TraceNode>,
): readonly TraceNode[] {
  if (only !== undefined) {
    const kept = new Set<TraceNode>()
    for (const match of only) {
      for (
        let node: TraceNode | undefined = match;
        node !== undefined && !kept.has(node);
        node = node.parent
      ) {
        kept.add(node)
      }
    }
    return tree.nodes.filter((node) => kept.has(node))
  }
  if (collapsed.size === 0) return tree.nodes
  const rows: TraceNode[] = []
  for (let at = 0; at < tree.nodes.length; at++) {
    const node = tree.nodes[at] as TraceNode
    rows.push(node)
    if (collapsed.has(node.span.id)) at += node.below
  }
  return rows
}

/** Every span with something below it. */
export function parents(tree: Tree): Set<string> {
  return new Set(tree.nodes.filter((node) => node.below > 0).map((node) => node.span.id))
}

/** Where the failure came from: what is marked so, else the deepest failed span, the first of them. */
export function failing(tree: Tree): TraceNode | undefined {
  const failed = tree.nodes.filter((node) => node.span.state === "error")
  return (
    failed.find((node) => node.span.failureSource) ?? failed.find((node) => !node.failedBelow) ?? failed[0]
  )
}

/** The failed span after this one, beginning again at the end. */
export function nextError(tree: Tree, after: TraceNode | undefined): TraceNode | undefined {
  const failed = tree.nodes.filter((node) => node.span.state === "error")
  return failed.find((node) => node.index > (after?.index ?? -1)) ?? failed[0]
}

const texts = new WeakMap<Span, string>()

/** Spans in which all words occur: in name, kind, key, error, attributes and small values. */
export function matches(tree: Tree, query: string): ReadonlySet<TraceNode> | undefined {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return undefined
  return new Set(
    tree.nodes.filter(({ span }) => {
      let text = texts.get(span)
      if (text === undefined) {
        const { name, label, key, error, attributes, input, output } = span
        const values = JSON.stringify([attributes, input, output])
        text =
          `${name} ${label} ${key ?? ""} ${error?.type ?? ""} ${error?.message ?? ""} ${values}`.toLowerCase()
        texts.set(span, text)
      }
      const whole = text
      return words.every((word) => whole.includes(word))
    }),
  )
}
