import { expect, test } from "vitest"
import { standing } from "@/app/connection"
import { reloadText } from "@/app/reload"
import { points } from "@/lib/match"

const none = { added: [], removed: [], changed: [] }

test("a reload is told in a few words", () => {
  expect(reloadText({ ...none, added: ["a", "b"], changed: ["c"] })).toBe(
    "Reloaded · 2 actions added, 1 changed",
  )
  expect(reloadText({ ...none, removed: ["a"] })).toBe("Reloaded · 1 action removed")
  expect(reloadText(none)).toBe("Reloaded · no action changed")
})

test("a server that is away hides how the app is", () => {
  expect(standing({ state: "closed", app: { state: "running" } as never }).status).toBe("disconnected")
  expect(standing({ state: "open", app: { state: "failed" } as never }).status).toBe("failed")
  expect(standing({ state: "open", app: { state: "running" } as never }).status).toBe("connected")
})

const better = (typed: string, first: string, second: string) =>
  expect(points(first, typed) ?? -1).toBeGreaterThan(points(second, typed) ?? -1)

test("a beginning is better than a middle, and a middle better than scattered letters", () => {
  better("menu", "menuQA", "indexMenu")
  better("menu", "indexMenu", "my enormous unit")
  better("qa", "menuQA", "quota")
})

test("letters in order are enough, any letters are not", () => {
  expect(points("takeOrder", "tord")).toBeDefined()
  expect(points("takeOrder", "zzz")).toBeUndefined()
  expect(points("take order", "order take")).toBeDefined()
})
