/**
 * A source text cut at every border of a chunk, so that chunks and what two of them share can be drawn.
 *
 *     bands("abcdef", [{start: 0, end: 4}, {start: 3, end: 6}])
 *     // "abc" of [0], "d" of [0, 1], "ef" of [1]
 */
type Span = { start: number; end: number }

/** A piece of the text, and the numbers of the chunks that cover it: none in a gap, several where they overlap. */
type Band = { text: string; start: number; chunks: number[] }

/** Pieces in order; together they are the text. Spans are in characters of Unicode, as the server counts them. */
export function bands(text: string, spans: readonly Span[]): Band[] {
  const characters = /[\ud800-\udfff]/.test(text) ? [...text] : undefined
  const size = characters?.length ?? text.length
  const part = (from: number, to: number) => characters?.slice(from, to).join("") ?? text.slice(from, to)
  const borders = new Set([0, size])
  const starts = new Map<number, number[]>()
  const ends = new Map<number, number[]>()
  spans.forEach((span, number) => {
    const start = Math.min(size, Math.max(0, span.start))
    const end = Math.min(size, Math.max(start, span.end))
    if (start === end) return
    borders.add(start).add(end)
    starts.set(start, [...(starts.get(start) ?? []), number])
    ends.set(end, [...(ends.get(end) ?? []), number])
  })
  const sorted = [...borders].sort((a, b) => a - b)
  const open = new Set<number>()
  const found: Band[] = []
  sorted.forEach((from, at) => {
    const to = sorted[at + 1]
    for (const number of ends.get(from) ?? []) open.delete(number)
    for (const number of starts.get(from) ?? []) open.add(number)
    if (to !== undefined)
      found.push({ text: part(from, to), start: from, chunks: [...open].sort((a, b) => a - b) })
  })
  return found
}
