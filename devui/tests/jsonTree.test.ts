import { expect, test } from "vitest"
import { binary, jsonRows, preview } from "@/lib/jsonTree"

const closed = { expand: 1, turned: new Map<string, boolean>() }

test("as many levels are open as were asked for", () => {
  const rows = jsonRows({ a: { b: 1 }, c: [2] }, closed)
  expect(rows.map((row) => row.path)).toEqual(["", "a", "c"])
})

test("what was opened by hand stays open", () => {
  const rows = jsonRows({ a: { b: [1] } }, { expand: 1, turned: new Map([["/a", true]]) })
  expect(rows.map((row) => row.path)).toEqual(["", "a", "a.b"])
})

test("paths can be pasted into code, pointers are of JSON", () => {
  const rows = jsonRows({ "a/b": [{ "c d": 1 }] }, { ...closed, expand: 9 })
  expect(rows.at(-1)).toMatchObject({ path: '["a/b"][0]["c d"]', pointer: "/a~1b/0/c d" })
})

test("long lists within are closed at first", () => {
  expect(jsonRows({ list: Array.from({ length: 101 }, () => 0) }, { ...closed, expand: 9 })).toHaveLength(2)
})

test("a closed part says what it holds", () => {
  expect(preview([1])).toBe("[1 item]")
  expect(preview({ a: 1, b: 2, c: 3, d: 4, e: 5 })).toBe("{a, b, c, d, …}")
  expect(preview({})).toBe("{}")
})

test("bytes are told by type and size, words are not", () => {
  expect(binary("data:image/png;base64,AAAA")).toEqual({ type: "image/png", bytes: 3 })
  expect(binary("A".repeat(1024))).toEqual({ type: "base64", bytes: 768 })
  expect(binary("data: a word")).toBeUndefined()
  expect(binary("hello ".repeat(200))).toBeUndefined()
})
