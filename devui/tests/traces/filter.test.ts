import { beforeEach, describe, expect, it } from "vitest"
import type { Summary } from "@/api/schema"
import { belongs, filterOf, queryOf } from "@/features/traces/filter"
import { pageBefore, rememberPage } from "@/features/traces/pages"
import { forget, save, savedFilters } from "@/features/traces/saved"

const NOW = Date.parse("2026-11-30T12:00:00Z")
const trace = {
  traceId: "1",
  name: "menuQA",
  key: "/flow/menuQA",
  kind: "flow",
  status: "error",
  startTimeMs: NOW - 1000,
  durationMs: 1200,
  labels: { batch: "a=b" },
  internal: false,
  input: '"What is vegan?"',
  output: null,
  error: "ValueError: no soup",
} as unknown as Summary

class Memory {
  private readonly kept = new Map<string, string>()
  getItem = (key: string) => this.kept.get(key) ?? null
  setItem = (key: string, value: string) => void this.kept.set(key, value)
}

beforeEach(() => {
  Object.assign(globalThis, { localStorage: new Memory(), sessionStorage: new Memory() })
})

describe("the filter of traces", () => {
  it("is what the server takes, without what it would refuse", () => {
    expect(queryOf({ status: "error", since: "1h", minMs: "500", q: "soup", internal: "1" }, NOW)).toEqual({
      status: "error",
      since: "2026-11-30T11:00:00.000Z",
      minMs: 500,
      q: "soup",
      internal: true,
    })
    expect(queryOf({ status: "odd", since: "someday", minMs: "fast", label: "nothing" }, NOW)).toEqual({})
  })

  it("tells which new traces belong into the list", () => {
    expect(belongs(trace, {}, NOW)).toBe(true)
    expect(belongs(trace, { status: "error", kind: "flow", action: "menuQA", minMs: "1000" }, NOW)).toBe(true)
    expect(belongs(trace, { action: "/flow/menuQA", q: "VEGAN soup", label: "batch=a=b" }, NOW)).toBe(true)
    expect(belongs(trace, { status: "success" }, NOW)).toBe(false)
    expect(belongs(trace, { since: "15m" }, NOW + 3_600_000)).toBe(false)
    expect(belongs(trace, { minMs: "2000" }, NOW)).toBe(false)
    expect(belongs(trace, { label: "batch=a" }, NOW)).toBe(false)
    expect(belongs({ ...trace, internal: true }, {}, NOW)).toBe(false)
  })
})

describe("saved filters", () => {
  it("are kept by name, without the page", () => {
    save("failed", filterOf({ status: "error", cursor: "1.2" }))
    save("failed", filterOf({ status: "error", minMs: "1000" }))

    expect(savedFilters()).toEqual([{ name: "failed", search: { status: "error", minMs: "1000" } }])
    expect(forget("failed")).toEqual([])
  })

  it("survive what somebody else has written", () => {
    localStorage.setItem("flowkit.traces.filters", '[1, {"name": "a", "search": {"status": 5, "q": "x"}}]')

    expect(savedFilters()).toEqual([{ name: "a", search: { q: "x" } }])
    localStorage.setItem("flowkit.traces.filters", "{")
    expect(savedFilters()).toEqual([])
  })
})

describe("pages", () => {
  it("know the one before", () => {
    rememberPage("b", undefined)
    rememberPage("c", "b")

    expect(pageBefore({ cursor: "c" })).toBe("b")
    expect(pageBefore({ cursor: "b" })).toBeUndefined()
    expect(pageBefore({ cursor: "other" })).toBeUndefined()
  })
})
