import { describe, expect, it } from "vitest"
import { moved } from "@/features/trace/keys"
import { entriesOf } from "@/features/trace/model/entries"
import { strokesOf } from "@/features/trace/model/minimap"
import { scaleOf } from "@/features/trace/model/time"
import { treeOf } from "@/features/trace/model/tree"
import { many, span } from "./make"

describe("the keys of the tree", () => {
  const tree = treeOf([
    span("root"),
    span("a", { parentId: "root", start: 1 }),
    span("b", { parentId: "root", start: 2 }),
  ])
  const [root, a, b] = tree.nodes
  const none: ReadonlySet<string> = new Set()

  it("move, fold and unfold", () => {
    expect(moved("ArrowDown", tree.nodes, root, none)).toEqual({ type: "select", node: a })
    expect(moved("ArrowUp", tree.nodes, root, none)).toEqual({ type: "select", node: root })
    expect(moved("End", tree.nodes, root, none)).toEqual({ type: "select", node: b })
    expect(moved("ArrowRight", tree.nodes, root, none)).toEqual({ type: "select", node: a })
    expect(moved("ArrowLeft", tree.nodes, root, none)).toEqual({ type: "toggle", node: root })
    expect(moved("ArrowRight", [root as never], root, new Set(["root"]))).toEqual({
      type: "toggle",
      node: root,
    })
    expect(moved("ArrowLeft", tree.nodes, b, none)).toEqual({ type: "select", node: root })
    expect(moved("Enter", tree.nodes, b, none)).toEqual({ type: "details" })
  })

  it("do nothing else, also without any row", () => {
    expect(moved("x", tree.nodes, b, none)).toBeUndefined()
    expect(moved("ArrowDown", [], undefined, none)).toBeUndefined()
    expect(moved("ArrowRight", tree.nodes, b, none)).toBeUndefined()
  })
})

describe("the log of a trace", () => {
  it("has starts, events, records and ends in order of time", () => {
    const event = { name: "retry", timeMs: 3, attributes: { n: 1 } }
    const error = { type: "ValueError", message: "no soup", stack: "" }
    const tree = treeOf([span("root", { end: 9, events: [event], state: "error", error })])
    const log = { logId: "1", spanId: "root", timestamp: 5, body: "cold", severityNumber: 13 } as never

    expect(entriesOf(tree, [log]).map((entry) => [entry.level, entry.text])).toEqual([
      ["start", ""],
      ["event", 'retry {"n":1}'],
      ["warn", "cold"],
      ["error", "9 ms  ValueError: no soup"],
    ])
    expect(entriesOf(tree, [log], new Set())).toEqual([])
  })
})

describe("the minimap", () => {
  it("has some hundred strokes, however many spans there are", () => {
    const tree = treeOf(many(50_000))

    expect(strokesOf(tree.nodes, scaleOf(0, 50_000), 0).length).toBeLessThan(1501)
  })
})
