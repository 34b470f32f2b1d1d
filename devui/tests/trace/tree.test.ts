import { describe, expect, it } from "vitest"
import { failing, matches, nextError, parents, treeOf, visibleRows } from "@/features/trace/model/tree"
import { many, span } from "./make"

const names = (nodes: Iterable<{ span: { name: string } }>) => [...nodes].map((node) => node.span.name)

describe("the tree of a trace", () => {
  it("has parents before children, and siblings by their start", () => {
    const tree = treeOf([
      span("late", { parentId: "root", start: 5 }),
      span("below", { parentId: "early", start: 3 }),
      span("root"),
      span("early", { parentId: "root", start: 2 }),
    ])

    expect(names(tree.nodes)).toEqual(["root", "early", "below", "late"])
    expect(tree.nodes.map((node) => node.depth)).toEqual([0, 1, 2, 1])
    expect(tree.nodes.map((node) => node.below)).toEqual([3, 1, 0, 0])
  })

  it("draws no child before its parent, whatever the clocks said", () => {
    const tree = treeOf([
      span("root", { start: 100, end: 200 }),
      span("child", { parentId: "root", start: 99.2 }),
    ])

    expect(tree.byId.get("child")?.start).toBe(100)
    expect(tree.start).toBe(100)
  })

  it("shows spans whose parents are missing as roots, and says how many", () => {
    const tree = treeOf([span("root"), span("lost", { parentId: "gone", start: 3 })])

    expect(names(tree.roots)).toEqual(["root", "lost"])
    expect(tree.orphans).toBe(1)
  })

  it("has nothing missing when its only root was called from elsewhere", () => {
    expect(treeOf([span("root", { parentId: "of another process" })]).orphans).toBe(0)
  })

  it("leaves no span of a circle out", () => {
    const tree = treeOf([
      span("a", { parentId: "b" }),
      span("b", { parentId: "a" }),
      span("self", { parentId: "self" }),
    ])

    expect(names(tree.nodes).sort()).toEqual(["a", "b", "self"])
  })

  it("sums the tokens of models upwards", () => {
    const usage = (input: number, output: number) => ({
      kind: "model",
      attributes: { "gen_ai.usage.input_tokens": input, "gen_ai.usage.output_tokens": output },
    })
    const tree = treeOf([
      span("root"),
      span("one", { parentId: "root", start: 1, ...usage(10, 2) }),
      span("two", { parentId: "root", start: 2, ...usage(5, 1) }),
      span("embed", { parentId: "root", start: 3, ...usage(7, 0), kind: "embedder" }),
    ])

    expect(tree.byId.get("root")?.tokens).toEqual({ input: 15, output: 3 })
    expect(tree.byId.get("embed")?.tokens).toBeUndefined()
  })

  it("knows where the failure came from", () => {
    const error = { state: "error" } as const
    const tree = treeOf([
      span("root", error),
      span("fine", { parentId: "root", start: 1 }),
      span("step", { parentId: "root", start: 2, ...error }),
      span("tool", { parentId: "step", start: 3, ...error }),
      span("other", { parentId: "root", start: 4, ...error }),
    ])

    expect(failing(tree)?.span.name).toBe("tool")
    expect(nextError(tree, tree.byId.get("tool"))?.span.name).toBe("other")
    expect(nextError(tree, tree.byId.get("other"))?.span.name).toBe("root")
    expect(tree.byId.get("root")?.failedBelow).toBe(true)
    expect(failing(treeOf([span("fine")]))).toBeUndefined()
  })
})

describe("rows", () => {
  const tree = treeOf([
    span("root"),
    span("a", { parentId: "root", start: 1 }),
    span("a1", { parentId: "a", start: 2, attributes: { colour: "Blue" } }),
    span("b", { parentId: "root", start: 3, error: { type: "ValueError", message: "no soup", stack: "" } }),
  ])

  it("are not shown below what is collapsed", () => {
    expect(names(visibleRows(tree, new Set(["a"])))).toEqual(["root", "a", "b"])
    expect(names(visibleRows(tree, parents(tree)))).toEqual(["root"])
  })

  it("that match are shown with those above them, even when those are collapsed", () => {
    const found = matches(tree, "BLUE")

    expect(names(found ?? [])).toEqual(["a1"])
    expect(names(visibleRows(tree, new Set(["root"]), found))).toEqual(["root", "a", "a1"])
    expect(names(matches(tree, "valueerror soup") ?? [])).toEqual(["b"])
    expect(matches(tree, "  ")).toBeUndefined()
  })
})

describe("a trace of 50,000 spans", () => {
  it("is laid out, collapsed and searched without recursion", () => {
    const tree = treeOf(many(50_000))
    const chain = treeOf(
      Array.from({ length: 50_000 }, (_, at) =>
        span(`n${at}`, at === 0 ? {} : { parentId: `n${at - 1}`, start: at }),
      ),
    )

    expect(tree.nodes).toHaveLength(50_000)
    expect(visibleRows(tree, parents(tree))).toHaveLength(1)
    expect(matches(tree, "step 49999")?.size).toBe(1)
    expect(chain.nodes.at(-1)?.depth).toBe(49_999)
    expect(chain.roots[0]?.below).toBe(49_999)
  })
})
