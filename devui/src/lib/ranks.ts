/**
 * What two ranked lists have in common.
 *
 *     moves(before, after)     // where each document was, and where it is
 *     overlap(left, right)     // {both, onlyLeft, onlyRight, jaccard, meanShift}
 */

/** Ranks are from 0; undefined where the list does not have the document. */
export type Move = { key: string; before: number | undefined; after: number | undefined }

/** One for each document of either list, in the order of `after`; those that fell out come last. The first rank counts. */
export function moves(before: readonly string[], after: readonly string[]): Move[] {
  const was = ranks(before)
  const is = ranks(after)
  const keys = new Set([...is.keys(), ...was.keys()])
  return [...keys].map((key) => ({ key, before: was.get(key), after: is.get(key) }))
}

/** How many places a document went up; negative: down, undefined: it is in one of the lists only. */
export function climb(move: Move): number | undefined {
  return move.before === undefined || move.after === undefined ? undefined : move.before - move.after
}

type Overlap = {
  both: number
  onlyLeft: number
  onlyRight: number
  jaccard: number
  meanShift: number
}

/** How far two lists agree. `jaccard`: shared documents of all, 1 when both are empty; `meanShift`: in places. */
export function overlap(left: readonly string[], right: readonly string[]): Overlap {
  const l = ranks(left)
  const r = ranks(right)
  const shared = [...l.keys()].filter((key) => r.has(key))
  const all = l.size + r.size - shared.length
  const shifts = shared.map((key) => Math.abs((l.get(key) ?? 0) - (r.get(key) ?? 0)))
  return {
    both: shared.length,
    onlyLeft: l.size - shared.length,
    onlyRight: r.size - shared.length,
    jaccard: all === 0 ? 1 : shared.length / all,
    meanShift: shifts.length === 0 ? 0 : shifts.reduce((sum, shift) => sum + shift, 0) / shifts.length,
  }
}

/** The first rank of each key. */
export function ranks(keys: readonly string[]): Map<string, number> {
  const found = new Map<string, number>()
  keys.forEach((key, rank) => {
    if (!found.has(key)) found.set(key, rank)
  })
  return found
}
