/**
 * Two runs side by side: which spans stand for each other, what changed in time and tokens, which documents moved.
 *
 *     const rows = aligned(treeOf(a), treeOf(b))
 *     moves(hitsOfA, hitsOfB)
 */
import { identity } from "@/features/trace/model/graph"
import { tookOf } from "@/features/trace/model/span"
import type { TraceNode, Tree } from "@/features/trace/model/tree"
import type { Hit } from "@/lib/documents"
import { moves as movesOfKeys } from "@/lib/ranks"

export interface Pair {
  a: TraceNode | undefined
  b: TraceNode | undefined
  depth: number
}

/**
 * Children are matched in their order, as the longest common run of the same actions; what is left over stands alone.
 * Parents come before what is below them.
 */
export function aligned(a: Tree, b: Tree): readonly Pair[] {
  const rows: Pair[] = []
  type Level = { a: readonly TraceNode[]; b: readonly TraceNode[]; depth: number }
  const stack: (Level | Pair)[] = [{ a: a.roots, b: b.roots, depth: 0 }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (Array.isArray(next.a)) {
      const level = next as Level
      stack.push(
        ...matched(level.a, level.b)
          .map(([left, right]) => ({ a: left, b: right, depth: level.depth }))
          .reverse(),
      )
      continue
    }
    const pair = next as Pair
    rows.push(pair)
    const below = { a: pair.a?.children ?? [], b: pair.b?.children ?? [], depth: pair.depth + 1 }
    if (below.a.length > 0 || below.b.length > 0) stack.push(below)
  }
  return rows
}

type Match = [TraceNode | undefined, TraceNode | undefined]

/** Longer lists would take too long to compare as a whole; their beginnings and ends are mostly the same. */
const MOST = 400

function matched(a: readonly TraceNode[], b: readonly TraceNode[]): Match[] {
  let begin = 0
  while (begin < a.length && begin < b.length && same(a[begin], b[begin])) begin++
  let end = 0
  while (end < a.length - begin && end < b.length - begin && same(a.at(-1 - end), b.at(-1 - end))) end++
  const middleA = a.slice(begin, a.length - end)
  const middleB = b.slice(begin, b.length - end)
  const middle =
    middleA.length > MOST || middleB.length > MOST ? apart(middleA, middleB) : common(middleA, middleB)
  return [
    ...a.slice(0, begin).map((node, at): Match => [node, b[at]]),
    ...middle,
    ...a.slice(a.length - end).map((node, at): Match => [node, b[b.length - end + at]]),
  ]
}

function same(a: TraceNode | undefined, b: TraceNode | undefined): boolean {
  return a !== undefined && b !== undefined && identity(a) === identity(b)
}

function apart(a: readonly TraceNode[], b: readonly TraceNode[]): Match[] {
  return [...a.map((node): Match => [node, undefined]), ...b.map((node): Match => [undefined, node])]
}

/** By the longest common subsequence. */
function common(a: readonly TraceNode[], b: readonly TraceNode[]): Match[] {
  const wide = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * wide)
  const at = (i: number, j: number) => lengths[i * wide + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * wide + j] = same(a[i], b[j]) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const found: Match[] = []
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    if (same(a[i], b[j])) found.push([a[i++], b[j++]])
    else if (at(i + 1, j) >= at(i, j + 1)) found.push([a[i++], undefined])
    else found.push([undefined, b[j++]])
  }
  return [...found, ...apart(a.slice(i), b.slice(j))]
}

export const tokensIn = (node: TraceNode | undefined): number | undefined =>
  node?.tokens === undefined ? undefined : node.tokens.input + node.tokens.output

const NOTICED_MS = 1
const NOTICED_SHARE = 0.1

/** A span that is only there once, ended otherwise, has other tokens, or took clearly more or less time. */
export function differs({ a, b }: Pair): boolean {
  if (a === undefined || b === undefined) return true
  if (a.span.state !== b.span.state || tokensIn(a) !== tokensIn(b)) return true
  const [first, second] = [tookOf(a.span), tookOf(b.span)]
  if (first === undefined || second === undefined) return first !== second
  const change = Math.abs(first - second)
  return change > NOTICED_MS && change > NOTICED_SHARE * Math.max(first, second)
}

export interface Move {
  hit: Hit
  /** Places from 1; absent where it was not found. */
  before: number | undefined
  after: number | undefined
}

/** Documents of both, in the order of the second; those that it has no more come last. */
export function moves(a: readonly Hit[], b: readonly Hit[]): readonly Move[] {
  const keys = (hits: readonly Hit[]) => hits.map((hit) => hit.key)
  const place = (rank: number | undefined) => (rank === undefined ? undefined : rank + 1)
  const byKey = new Map([...a, ...b].map((hit) => [hit.key, hit]))
  return movesOfKeys(keys(a), keys(b)).map(({ key, before, after }) => ({
    hit: byKey.get(key) as Hit,
    before: place(before),
    after: place(after),
  }))
}

/** Share of all documents that both found; undefined when there is none at all. */
export function overlap(found: readonly Move[]): number | undefined {
  if (found.length === 0) return undefined
  return found.filter((move) => move.before !== undefined && move.after !== undefined).length / found.length
}

/** JSON with its keys in order, so that the same values are the same text. */
export function sortedJson(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(ordered(value), null, 2)
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, ordered(item)]))
}
