import { describe, expect, it } from "vitest"
import { aligned, differs, moves, overlap, sortedJson } from "@/features/compare/model"
import { treeOf } from "@/features/trace/model/tree"
import { documentsOf } from "@/lib/documents"
import { many, span } from "../trace/make"

const child = (id: string, start: number, more = {}) =>
  span(id, { parentId: "root", start, end: start + 1, key: `/tool/${id.replace(/\d/, "")}`, ...more })

describe("spans of two runs", () => {
  it("stand beside each other by action and order; others alone", () => {
    const a = treeOf([span("root"), child("look", 1), child("cook", 2), child("serve", 3)])
    const b = treeOf([span("root"), child("look", 1), child("taste", 2), child("cook", 3), child("serve", 4)])

    expect(aligned(a, b).map((pair) => [pair.a?.span.name, pair.b?.span.name, pair.depth])).toEqual([
      ["root", "root", 0],
      ["look", "look", 1],
      [undefined, "taste", 1],
      ["cook", "cook", 1],
      ["serve", "serve", 1],
    ])
  })

  it("keep what is below them", () => {
    const below = (id: string) => span(`${id}x`, { parentId: id, start: 2, key: "/model/x" })
    const a = treeOf([span("root"), child("cook1", 1), below("cook1")])
    const b = treeOf([span("root"), child("cook2", 1), below("cook2")])

    expect(aligned(a, b).map((pair) => [pair.a?.span.id, pair.b?.span.id])).toEqual([
      ["root", "root"],
      ["cook1", "cook2"],
      ["cook1x", "cook2x"],
    ])
  })

  it("may be thousands", () => {
    const tree = treeOf(many(5000))

    expect(aligned(tree, treeOf(many(5000)))).toHaveLength(5000)
    expect(aligned(tree, treeOf([span("other")]))).toHaveLength(5001)
  })

  it("differ when their end, tokens or time do", () => {
    const node = (more: object) => treeOf([span("a", more)]).roots[0]
    const pair = (more: object) => ({ a: node({ end: 1000 }), b: node(more), depth: 0 })

    expect(differs(pair({ end: 1050 }))).toBe(false)
    expect(differs(pair({ end: 1500 }))).toBe(true)
    expect(differs(pair({ end: 1000, state: "error" }))).toBe(true)
    expect(differs({ a: node({}), b: undefined, depth: 0 })).toBe(true)
  })
})

describe("documents of two runs", () => {
  const hits = (...ids: string[]) =>
    documentsOf(ids.map((id) => ({ id, content: [{ text: id }], metadata: {} })))

  it("move, come and go", () => {
    const found = moves(hits("a", "b", "c"), hits("b", "a", "d"))

    expect(found.map(({ hit, before, after }) => [hit.id, before, after])).toEqual([
      ["b", 2, 1],
      ["a", 1, 2],
      ["d", undefined, 3],
      ["c", 3, undefined],
    ])
    expect(overlap(found)).toBe(0.5)
    expect(overlap([])).toBeUndefined()
  })
})

describe("values", () => {
  it("are the same text when only the order of their keys differs", () => {
    expect(sortedJson({ b: 1, a: { d: 1, c: 2 } })).toBe(sortedJson({ a: { c: 2, d: 1 }, b: 1 }))
    expect(sortedJson(undefined)).toBe("")
  })
})
