import { describe, expect, it } from "vitest"
import { drawn, lanesOf } from "@/features/trace/model/lanes"
import {
  barOf,
  idleOf,
  position,
  scaleOf,
  ticks,
  timeAt,
  timeLabel,
  WHOLE,
} from "@/features/trace/model/time"
import { treeOf } from "@/features/trace/model/tree"
import { many, span } from "./make"

describe("the scale", () => {
  it("fits the whole trace", () => {
    const scale = scaleOf(1000, 3000)

    expect(position(scale, 1000)).toBe(0)
    expect(position(scale, 2000)).toBe(0.5)
    expect(position(scale, 3000)).toBe(1)
    expect(timeAt(scale, 0.25)).toBe(1500)
  })

  it("survives a trace without any length", () => {
    expect(barOf(scaleOf(5, 5), WHOLE, 5, 5)).toEqual({ left: 0, width: 0, outside: false })
  })

  it("draws idle stretches short, and the rest in proportion", () => {
    const scale = scaleOf(0, 10_000, [{ from: 100, to: 9900 }])

    expect(position(scale, 100)).toBeCloseTo(0.485)
    expect(position(scale, 9900)).toBeCloseTo(0.515)
    expect(position(scale, 9950)).toBeCloseTo(0.7575)
    expect(timeAt(scale, position(scale, 9950))).toBeCloseTo(9950)
  })

  it("cuts bars at the edges of the window", () => {
    const scale = scaleOf(0, 100)

    expect(barOf(scale, { from: 0.5, to: 1 }, 0, 75)).toEqual({ left: 0, width: 0.5, outside: false })
    expect(barOf(scale, { from: 0.5, to: 1 }, 0, 25).outside).toBe(true)
  })
})

describe("idle time", () => {
  it("is where nothing runs but flows and steps that wait", () => {
    const tree = treeOf([
      span("root", { start: 0, end: 1000 }),
      span("a", { parentId: "root", start: 0, end: 50 }),
      span("b", { parentId: "root", start: 950, end: 1000 }),
    ])

    expect(idleOf(tree, 0)).toEqual({ gaps: [{ from: 50, to: 950 }], share: 0.9 })
  })

  it("is none while a retriever works itself, before and after its embedder", () => {
    const tree = treeOf([
      span("root", { start: 0, end: 1000 }),
      span("menu", { parentId: "root", start: 0, end: 900, label: "retriever", kind: "retriever" }),
      span("embed", { parentId: "menu", start: 0, end: 5, label: "embedder", kind: "embedder" }),
    ])

    expect(idleOf(tree, 0).share).toBeCloseTo(0.1)
  })

  it("is none in a single span, or while one runs", () => {
    expect(idleOf(treeOf([span("root", { end: 1000 })]), 0).share).toBe(0)
    expect(idleOf(treeOf([span("root", { end: undefined })]), 500).share).toBe(0)
  })
})

describe("ticks", () => {
  it("stand at round times", () => {
    const labels = ticks(scaleOf(7, 1007), WHOLE, 5).map((tick) => tick.label)

    expect(labels).toEqual(["0", "200 ms", "400 ms", "600 ms", "800 ms", "1 s"])
    expect(ticks(scaleOf(0, 0.004), WHOLE, 4).map((tick) => tick.label)).toEqual([
      "0",
      "1 µs",
      "2 µs",
      "3 µs",
      "4 µs",
    ])
  })

  it("say how long a compressed stretch is", () => {
    const labels = ticks(scaleOf(0, 10_000, [{ from: 100, to: 9900 }]), WHOLE, 6).map((tick) => tick.label)

    expect(labels).toContain("9.8 s idle")
  })

  it("are within the window", () => {
    const found = ticks(scaleOf(0, 1000), { from: 0.4, to: 0.6 }, 5)

    expect(found.length).toBeGreaterThan(2)
    expect(found.every((tick) => tick.at >= 0 && tick.at <= 1)).toBe(true)
  })

  it("have the unit that suits", () => {
    expect(timeLabel(0, 10)).toBe("0")
    expect(timeLabel(1500, 500)).toBe("1.5 s")
    expect(timeLabel(180_000, 60_000)).toBe("3 min")
  })
})

describe("lanes", () => {
  it("put spans of the same time below each other", () => {
    const tree = treeOf([
      span("root", { end: 10 }),
      span("a", { parentId: "root", start: 1, end: 5 }),
      span("b", { parentId: "root", start: 2, end: 6 }),
      span("c", { parentId: "root", start: 7, end: 9 }),
    ])

    const rows = lanesOf(tree, 10).map((row) => row.map((node) => node.span.name))

    expect(rows).toEqual([["root"], ["a", "c"], ["b"]])
  })

  it("draw what is too small to see as one bar", () => {
    const tree = treeOf(many(50_000))
    const rows = lanesOf(tree, 0)
    const bars = rows.flatMap((row) => drawn(row, scaleOf(0, 50_000), WHOLE, 1000, 0))

    expect(bars.length).toBeLessThan(1500 * rows.length)
    expect(bars.reduce((sum, bar) => sum + bar.count, 0)).toBe(50_000)
  })
})
