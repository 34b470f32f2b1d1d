/**
 * Reading a matrix of similarities: how strong a cell is drawn, which text is nearest, and points for a drawing.
 *
 *     const scale = heat(matrix)
 *     scale.strength(0.8)           // 0…1
 *     nearest(matrix, 0)            // {index: 3, value: 0.71}
 *     placed(points, 400, 300, 24)  // the same points on a drawing of 400 × 300
 */

/** Colours run from the least value that two different texts have to 1, so that differences are seen. */
export function heat(matrix: readonly (readonly number[])[]): {
  least: number
  strength(value: number): number
} {
  const others = matrix.flatMap((row, i) => row.filter((_, j) => i !== j))
  const least = others.length === 0 ? 0 : Math.min(...others)
  const room = 1 - least
  return {
    least,
    strength: (value) => (room < 1e-9 ? 1 : Math.min(1, Math.max(0, (value - least) / room))),
  }
}

/** The other text that is most alike; undefined when there is none. */
export function nearest(
  matrix: readonly (readonly number[])[],
  index: number,
): { index: number; value: number } | undefined {
  let best: { index: number; value: number } | undefined
  matrix[index]?.forEach((value, other) => {
    if (other !== index && (best === undefined || value > best.value)) best = { index: other, value }
  })
  return best
}

/** Two digits, and never a "-0.00". */
export function cosineText(value: number): string {
  const text = value.toFixed(2)
  return text === "-0.00" ? "0.00" : text
}

/** Points of a plane on a drawing; both axes have one scale, so that distances can be compared. */
export function placed(
  points: readonly (readonly [number, number])[],
  width: number,
  height: number,
  margin: number,
): [number, number][] {
  const xs = points.map(([x]) => x)
  const ys = points.map(([, y]) => y)
  const [left, right] = [Math.min(...xs), Math.max(...xs)]
  const [low, high] = [Math.min(...ys), Math.max(...ys)]
  const fits = [(width - 2 * margin) / (right - left), (height - 2 * margin) / (high - low)]
  const scale = Math.min(...fits.filter(Number.isFinite))
  const size = Number.isFinite(scale) ? scale : 0
  return points.map(([x, y]) => [
    width / 2 + (x - (left + right) / 2) * size,
    height / 2 - (y - (low + high) / 2) * size,
  ])
}

/** Points that would hide each other's names, together: each group has one name. Places are in order of the texts. */
export function grouped(places: readonly (readonly [number, number])[], near: number): number[][] {
  const groups: number[][] = []
  places.forEach(([x, y], at) => {
    const group = groups.find((each) => {
      const first = places[each[0] ?? 0]
      return first !== undefined && Math.hypot(x - first[0], y - first[1]) < near
    })
    if (group === undefined) groups.push([at])
    else group.push(at)
  })
  return groups
}
