import { expect, test } from "vitest"
import { kindColor, shownKind, sortKinds, withoutTwins } from "@/lib/kinds"
import { runPath, splitKey } from "@/lib/paths"
import { shellQuote } from "@/lib/shell"

test.each([
  ["menuQA", "menuQA"],
  ["", "''"],
  ["two words", "'two words'"],
  ["it's", `'it'"'"'s'`],
  ['{"a": "$HOME"}', `'{"a": "$HOME"}'`],
  ["日本語", "'日本語'"],
  ["a\nb", "'a\nb'"],
])("%j is one word of a shell", (text, word) => expect(shellQuote(text)).toBe(word))

test("a key is kind and name, and a name may have slashes", () => {
  expect(splitKey("/model/local/extractive")).toEqual({ kind: "model", name: "local/extractive" })
  expect(runPath("/model/local/extractive")).toBe("/run/model/local/extractive")
  expect(runPath("/flow/<b>?")).toBe("/run/flow/%3Cb%3E%3F")
})

test("kinds are sorted by what an app is made of, unknown ones last", () => {
  expect(sortKinds(["zebra", "tool", "flow", "aardvark"])).toEqual(["flow", "tool", "aardvark", "zebra"])
})

test("variants of a kind look alike, and an unknown kind has a colour too", () => {
  expect(shownKind("flowStep")).toBe("step")
  expect(kindColor("executable-prompt")).toBe(kindColor("prompt"))
  expect(kindColor("zebra")).toBe("var(--kind-other)")
})

test("a tool is listed once, also when it has a second form", () => {
  const both = [
    { kind: "tool", name: "today" },
    { kind: "tool.v2", name: "today" },
    { kind: "tool.v2", name: "alone" },
  ]
  expect(withoutTwins(both).map((one) => one.kind)).toEqual(["tool", "tool.v2"])
})
