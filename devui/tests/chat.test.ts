// @vitest-environment happy-dom
import { expect, test } from "vitest"
import { pythonGenerate } from "@/features/chat/copyAs"
import { abilities, requestFor } from "@/features/chat/request"
import {
  before,
  branches,
  choose,
  EMPTY,
  joined,
  path,
  say,
  type Tree,
  withReply,
} from "@/features/chat/tree"

const answered = (tree: Tree, id: string, text: string) =>
  withReply(tree, id, { status: "success", parts: [{ text }] })

function talk(): Tree {
  let tree = say(EMPTY, undefined, { id: "1", text: "Hello" })
  tree = answered(tree, "1", "Good day")
  tree = say(tree, "1", { id: "2", text: "What is vegan?" })
  return answered(tree, "2", "The soup")
}

test("turns follow each other", () => {
  expect(path(talk()).map((turn) => turn.text)).toEqual(["Hello", "What is vegan?"])
})

test("saying the first differently makes a branch, and the old one is still there", () => {
  const tree = say(talk(), undefined, { id: "3", text: "Hi" })
  expect(path(tree).map((turn) => turn.text)).toEqual(["Hi"])
  const [first, second] = branches(tree, path(tree)[0] as never)
  expect([first?.text, second?.text]).toEqual(["Hello", "Hi"])
  expect(path(choose(tree, first as never)).map((turn) => turn.id)).toEqual(["1", "2"])
})

test("a model is asked with all that was said before, the system first", () => {
  const tree = talk()
  const turns = before(tree, { parent: "2" })
  const request = requestFor({ turns, text: "And cheap?", system: "Be short.", config: { temperature: 0 } })
  expect(request.messages.map((message) => message.role)).toEqual([
    "system",
    "user",
    "model",
    "user",
    "model",
    "user",
  ])
  expect(request.config).toEqual({ temperature: 0 })
})

test("what is not set is not sent", () => {
  expect(requestFor({ turns: [], text: "Hi", system: " ", config: {}, docs: [] })).toEqual({
    messages: [{ role: "user", content: [{ text: "Hi" }] }],
  })
})

test("chunks become one text, other parts stay apart", () => {
  const chunks = [
    { content: [{ text: "a" }] },
    { content: [{ text: "b" }, { data: 1 }] },
    { content: [{ text: "c" }] },
  ]
  expect(joined(chunks)).toEqual([{ text: "ab" }, { data: 1 }, { text: "c" }])
  expect(joined([null, "odd", {}])).toEqual([])
})

test("what a model does not say about itself, it can", () => {
  expect(abilities(undefined)).toMatchObject({
    multiturn: true,
    systemRole: true,
    config: undefined,
  })
  expect(abilities({ model: { supports: { multiturn: false } } }).multiturn).toBe(false)
})

test("a script says the whole conversation", () => {
  const tree = talk()
  const script = pythonGenerate("local/x", {
    turns: before(tree, { parent: "1" }),
    text: 'Say "hi"',
    system: "",
    config: { style: "short" },
  })
  expect(script).toContain('Message.user("Hello")')
  expect(script).toContain('"Say \\"hi\\""')
  expect(script).toContain('config={"style": "short"}')
})
