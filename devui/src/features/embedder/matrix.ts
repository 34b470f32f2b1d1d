/**
 * Vectors beside each other: how alike they are, and where they lie on a plane.
 *
 *     similarities(vectors)   // cosine of each pair, -1…1
 *     plane(vectors)          // {points: [x, y][], explained: [0.41, 0.22]}
 */
type Vector = readonly number[]

export function norm(vector: Vector): number {
  return Math.hypot(...vector)
}

export function dot(a: Vector, b: Vector): number {
  let sum = 0
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0)
  return sum
}

/** Cosine, 0 when one of them has no direction. */
export function cosine(a: Vector, b: Vector): number {
  // One root of the product, so that a vector and itself give exactly 1.
  const lengths = Math.sqrt(dot(a, a) * dot(b, b))
  return lengths < 1e-12 ? 0 : Math.min(1, Math.max(-1, dot(a, b) / lengths))
}

export function similarities(vectors: readonly Vector[]): number[][] {
  return vectors.map((a) => vectors.map((b) => cosine(a, b)))
}

export type Plane = {
  points: [number, number][]
  /** The share of all variance along each axis, 0…1. */
  explained: [number, number]
}

/**
 * The two directions in which the vectors differ most (principal components), by power iteration on the matrix of
 * inner products: there are few vectors, of many numbers. Signs are fixed: the largest coordinate is positive.
 */
export function plane(vectors: readonly Vector[]): Plane {
  const count = vectors.length
  const length = vectors[0]?.length ?? 0
  const mean = Array.from({ length }, (_, at) => vectors.reduce((sum, v) => sum + (v[at] ?? 0), 0) / count)
  const centred = vectors.map((vector) => vector.map((value, at) => value - (mean[at] ?? 0)))
  const gram = centred.map((a) => centred.map((b) => dot(a, b)))
  const total = gram.reduce((sum, row, at) => sum + (row[at] ?? 0), 0)
  const axes: { values: number[]; share: number }[] = []
  for (let axis = 0; axis < 2; axis += 1) {
    const { vector, value } = largest(gram)
    const size = Math.sqrt(Math.max(0, value))
    axes.push({
      values: vector.map((part) => part * size),
      share: total > 1e-12 ? Math.max(0, value) / total : 0,
    })
    for (let i = 0; i < count; i += 1) {
      const row = gram[i] as number[]
      for (let j = 0; j < count; j += 1) row[j] = (row[j] ?? 0) - value * (vector[i] ?? 0) * (vector[j] ?? 0)
    }
  }
  return {
    points: vectors.map((_, at) => [axes[0]?.values[at] ?? 0, axes[1]?.values[at] ?? 0]),
    explained: [axes[0]?.share ?? 0, axes[1]?.share ?? 0],
  }
}

function largest(matrix: readonly (readonly number[])[]): { vector: number[]; value: number } {
  const count = matrix.length
  let vector = Array.from({ length: count }, (_, at) => Math.sin(at + 1) + 0.1)
  let value = 0
  for (let round = 0; round < 500; round += 1) {
    const next = matrix.map((row) => dot(row, vector))
    const size = norm(next)
    if (size < 1e-12) return { vector: Array(count).fill(0), value: 0 }
    const scaled = next.map((part) => part / size)
    const moved = Math.hypot(...scaled.map((part, at) => part - (vector[at] ?? 0)))
    vector = scaled
    value = size
    if (moved < 1e-10) break
  }
  const peak = vector.reduce((best, part) => (Math.abs(part) > Math.abs(best) ? part : best), 0)
  return { vector: peak < 0 ? vector.map((part) => -part) : vector, value }
}
