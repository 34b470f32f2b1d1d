import { describe, expect, it } from "vitest"
import { cosineText, heat, nearest, placed } from "@/features/embedder/similarity"
import { withLines } from "@/features/embedder/texts"
import { bands } from "@/features/indexer/bands"
import { batches, pace } from "@/features/indexer/batches"

describe("similarity", () => {
  const matrix = [
    [1, 0.8, 0.2],
    [0.8, 1, 0.4],
    [0.2, 0.4, 1],
  ]
  it("is coloured from the least of two different texts to 1", () => {
    const scale = heat(matrix)
    expect(scale.least).toBe(0.2)
    expect(scale.strength(0.2)).toBe(0)
    expect(scale.strength(1)).toBe(1)
    expect(scale.strength(0.6)).toBeCloseTo(0.5)
    expect(
      heat([
        [1, 1],
        [1, 1],
      ]).strength(1),
    ).toBe(1)
    expect(heat([[1]]).least).toBe(0)
  })
  it("tells the nearest other text", () => {
    expect(nearest(matrix, 0)).toEqual({ index: 1, value: 0.8 })
    expect(nearest(matrix, 2)).toEqual({ index: 1, value: 0.4 })
    expect(nearest([[1]], 0)).toBeUndefined()
  })
  it("is written with two digits and no empty sign", () => {
    expect([1, -0.001, -0.5, 0.456].map(cosineText)).toEqual(["1.00", "0.00", "-0.50", "0.46"])
  })
})

describe("points on a drawing", () => {
  it("keep their proportions and stay inside", () => {
    expect(
      placed(
        [
          [0, 0],
          [4, 1],
        ],
        100,
        100,
        10,
      ),
    ).toEqual([
      [10, 60],
      [90, 40],
    ])
    expect(
      placed(
        [
          [1, 1],
          [1, 1],
        ],
        100,
        50,
        10,
      ),
    ).toEqual([
      [50, 25],
      [50, 25],
    ])
  })
})

describe("texts of a bench", () => {
  it("are split at lines when several are put in", () => {
    expect(withLines(["a", "b"], 1, "x\n\ny\r\nz")).toEqual(["a", "x", "y", "z"])
    expect(withLines(["a"], 0, "ab ")).toEqual(["ab "])
    expect(withLines(["a"], 0, Array(99).fill("x").join("\n"))).toHaveLength(50)
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
