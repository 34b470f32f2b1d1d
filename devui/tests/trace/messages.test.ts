import { describe, expect, it } from "vitest"
import { messagesOf, restOf } from "@/features/trace/details/messages"

describe("messages", () => {
  it("are read out of requests and answers, with every kind of part", () => {
    const request = {
      messages: [
        {
          role: "user",
          content: [{ text: "hi" }, { media: { url: "data:image/png;base64,aa", contentType: "image/png" } }],
        },
        {
          role: "model",
          content: [{ toolRequest: { name: "look", ref: "1", input: { at: 2 } } }, { reasoning: "hm" }],
        },
        { role: "tool", content: [{ toolResponse: { name: "look", ref: "1", output: [] } }, 5] },
      ],
      docs: [],
      config: { temperature: 1 },
    }

    expect(messagesOf(request).map(({ role, parts }) => [role, parts.map((part) => part.type)])).toEqual([
      ["user", ["text", "media"]],
      ["model", ["toolRequest", "reasoning"]],
      ["tool", ["toolResponse", "other"]],
    ])
    expect(restOf(request)).toEqual({ config: { temperature: 1 } })
    expect(messagesOf({ message: { role: "model", content: [{ text: "yes" }] } })).toHaveLength(1)
    expect(messagesOf({ candidates: [{ message: { role: "model", content: [] } }] })).toHaveLength(1)
  })

  it("are none in other values", () => {
    for (const value of [undefined, null, 5, "text", [], {}, { messages: "no" }, { messages: [5] }]) {
      expect(messagesOf(value)).toEqual([])
    }
    expect(restOf(5)).toEqual({})
  })
})
