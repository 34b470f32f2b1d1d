import { describe, expect, test } from "vitest"
import { bytes, count, duration, plural, when } from "@/lib/format"

describe("durations have three figures and a unit", () => {
  test.each([
    [0, "0 ms"],
    [0.42, "0.4 ms"],
    [1, "1 ms"],
    [1.26, "1.3 ms"],
    [12.4, "12 ms"],
    [999.4, "999 ms"],
    [999.6, "1.00 s"],
    [1234, "1.23 s"],
    [12_345, "12.3 s"],
    [59_994, "60.0 s"],
    [60_000, "1 m 00 s"],
    [125_000, "2 m 05 s"],
    [3_720_000, "1 h 02 m"],
    [-5, "-5 ms"],
  ])("%d ms", (ms, text) => expect(duration(ms)).toBe(text))

  test("nothing is a dash", () => {
    expect(duration(null)).toBe("—")
    expect(duration(Number.NaN)).toBe("—")
  })
})

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [2048, "2.0 kB"],
  [14_200_000, "14 MB"],
  [3_100_000_000, "3.1 GB"],
])("%d bytes", (n, text) => expect(bytes(n)).toBe(text))

test("counts are grouped, and their word agrees", () => {
  expect(count(1234567)).toBe("1,234,567")
  expect(plural(1, "trace")).toBe("1 trace")
  expect(plural(2, "trace")).toBe("2 traces")
})

test.each([
  [0, "just now"],
  [12_000, "12 s ago"],
  [300_000, "5 min ago"],
  [10_800_000, "3 h ago"],
])("%d ms before now", (ago, text) => {
  const now = 1_800_000_000_000
  expect(when(now - ago, now)).toBe(text)
})

test("what is older than a day has its date", () => {
  expect(when(0, 1_800_000_000_000)).toMatch(/^(1970-01-01|1969-12-31)$/)
})
