import { describe, expect, it } from "vitest"
import { cosine, plane, similarities } from "@/features/embedder/matrix"
import { bands } from "@/features/indexer/bands"
import { batches, pace } from "@/features/indexer/batches"

describe("similarity", () => {
  it("is 1 for a vector and itself, at any length, and 0 across", () => {
    expect(cosine([0.1, 0.7, 0.3], [0.1, 0.7, 0.3])).toBe(1)
    expect(cosine([1, 0], [3, 0])).toBe(1)
    expect(cosine([1, 0], [0, 1])).toBe(0)
    expect(cosine([0, 0], [0, 1])).toBe(0)
    expect(
      similarities([
        [1, 0],
        [-1, 0],
      ]),
    ).toEqual([
      [1, -1],
      [-1, 1],
    ])
  })
})

describe("the plane", () => {
  it("keeps distances of what lies on a plane", () => {
    const vectors = [
      [0, 0, 5],
      [4, 0, 5],
      [4, 3, 5],
      [0, 3, 5],
    ]
    const { points, explained } = plane(vectors)
    const distance = (a: number, b: number) =>
      Math.hypot(...(points[a] ?? [0, 0]).map((value, at) => value - ((points[b] ?? [0, 0])[at] ?? 0)))
    expect(distance(0, 1)).toBeCloseTo(4)
    expect(distance(1, 2)).toBeCloseTo(3)
    expect(distance(0, 2)).toBeCloseTo(5)
    expect(explained[0] + explained[1]).toBeCloseTo(1)
    expect(explained[0]).toBeGreaterThan(explained[1])
  })
  it("is a point for equal vectors, and empty for none", () => {
    expect(
      plane([
        [1, 2],
        [1, 2],
      ]).points,
    ).toEqual([
      [0, 0],
      [0, 0],
    ])
    expect(plane([]).points).toEqual([])
  })
})

describe("bands", () => {
  it("cut a text at every border, with overlaps and gaps", () => {
    expect(
      bands("abcdefgh", [
        { start: 0, end: 4 },
        { start: 3, end: 6 },
      ]),
    ).toEqual([
      { text: "abc", start: 0, chunks: [0] },
      { text: "d", start: 3, chunks: [0, 1] },
      { text: "ef", start: 4, chunks: [1] },
      { text: "gh", start: 6, chunks: [] },
    ])
  })
  it("count characters as the server does, and are together the text", () => {
    const text = "🥗 salad, 寿司 and 👨‍👩‍👧"
    const found = bands(text, [
      { start: 0, end: 2 },
      { start: 2, end: 9 },
      { start: 5, end: 99 },
    ])
    expect(found.map((band) => band.text).join("")).toBe(text)
    expect(found[0]).toEqual({ text: "🥗 ", start: 0, chunks: [0] })
  })
})

describe("batches", () => {
  it("keep equal texts together, and lose none", () => {
    const chunks = ["a", "b", "c", "a", "d"].map((text, at) => ({ text, at }))
    const found = batches(chunks, 2)
    expect(found.map((batch) => batch.map((chunk) => chunk.text).join(""))).toEqual(["aba", "cd"])
    expect(batches([], 2)).toEqual([])
  })
  it("tell a pace and the rest", () => {
    expect(
      pace(
        [
          { ms: 0, done: 0 },
          { ms: 500, done: 50 },
        ],
        100,
      ),
    ).toEqual({ perSecond: 100, etaMs: 500 })
    expect(pace([{ ms: 0, done: 0 }], 100).etaMs).toBeUndefined()
  })
})
