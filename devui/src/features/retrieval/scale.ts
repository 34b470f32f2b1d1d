/**
 * What a score means, and how long its bar is.
 *
 *     const scale = scaleOf(scores, "hybrid")
 *     scale.label            // "reciprocal rank fusion"
 *     scale.width(0.98)      // 0…1
 */
export type Scale = { label: string; explained: string; width(score: number | undefined): number }

const MODES: Record<string, [string, string]> = {
  vector: [
    "vector similarity, 0–1",
    "Higher is nearer, and 1 is the same direction: (1 + cosine) / 2, or 1 / (1 + distance) in a store that measures distance.",
  ],
  keyword: [
    "keyword, BM25 / (BM25 + 1), 0–1",
    "By the words that query and text share. It says nothing across queries.",
  ],
  hybrid: [
    "reciprocal rank fusion, 0–1",
    "The ranks of a vector and a keyword search, fused (k = 60), as a share of the most that can be reached. Only the order counts.",
  ],
}

/** The scale of a list of scores. `mode` is how a vector store has searched; functions may score as they like. */
export function scaleOf(scores: readonly (number | undefined)[], mode: string | undefined): Scale {
  const given = scores.filter((score): score is number => score !== undefined)
  const most = Math.max(0, ...given)
  const least = Math.min(0, ...given)
  if (given.length === 0 || (most === 0 && least === 0)) {
    return { label: "no scores", explained: "The order is all that this action says.", width: () => 0 }
  }
  const named = mode === undefined ? undefined : MODES[mode]
  if (least < 0) {
    return {
      label: "raw scores",
      explained: "Some are below 0, so bars run from the least to the most.",
      width: (score) => (score === undefined ? 0 : bounded((score - least) / (most - least))),
    }
  }
  if (most > 1) {
    return {
      label: "raw scores",
      explained: "As the action gives them; the longest bar is the highest score.",
      width: (score) => (score === undefined ? 0 : bounded(score / most)),
    }
  }
  return {
    label: named?.[0] ?? "score, 0–1",
    explained: named?.[1] ?? "As the action gives it; higher is better.",
    width: (score) => (score === undefined ? 0 : bounded(score)),
  }
}

const bounded = (value: number) => Math.min(1, Math.max(0, value))

/** A score with as many digits as tell it apart. */
export function scoreText(score: number | undefined): string {
  if (score === undefined) return "—"
  if (score === 0) return "0"
  const size = Math.abs(score)
  return score.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : size < 0.01 ? 5 : 3)
}
