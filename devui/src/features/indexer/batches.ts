/**
 * Chunks in portions, so that indexing shows how far it is and can be stopped between them.
 *
 *     for (const batch of batches(chunks, 32)) …
 */

/** Portions of about `size`, in order. Equal texts are in one portion: which of them is which is told within a call. */
export function batches<T extends { text: string }>(chunks: readonly T[], size: number): T[][] {
  const found: T[][] = []
  const home = new Map<string, T[]>()
  let open: T[] | undefined
  for (const chunk of chunks) {
    const known = home.get(chunk.text)
    if (known !== undefined) {
      known.push(chunk)
      continue
    }
    if (open === undefined || open.length >= size) {
      open = []
      found.push(open)
    }
    open.push(chunk)
    home.set(chunk.text, open)
  }
  return found
}

/** How many a second, over the last few portions, and how long the rest takes. */
export function pace(
  marks: readonly { ms: number; done: number }[],
  total: number,
): { perSecond: number; etaMs: number | undefined } {
  const last = marks.at(-1)
  const first = marks.at(-8) ?? marks[0]
  if (last === undefined || first === undefined || last.ms <= first.ms)
    return { perSecond: 0, etaMs: undefined }
  const perSecond = ((last.done - first.done) / (last.ms - first.ms)) * 1000
  return { perSecond, etaMs: perSecond > 0 ? ((total - last.done) / perSecond) * 1000 : undefined }
}
