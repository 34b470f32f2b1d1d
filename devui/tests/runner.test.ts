import { expect, describe as suite, test } from "vitest"
import { rootNode } from "@/components/schema-form/schema"
import { exampleOf } from "@/features/runner/example"
import { blocksOf, chunkText, mediaOf, shapeOf, streamedText } from "@/features/runner/output"
import { redactedPlaces, withoutSecrets } from "@/features/runner/redacted"
import { cliCommand, devCurl, pythonLiteral, pythonScript, serveCurl } from "@/lib/copyAs"

suite("copied as a command", () => {
  test("quotes, newlines and real characters are one word of the shell", () => {
    expect(cliCommand({ key: "/flow/hello", input: "it's\n抹茶" })).toBe(
      `flowkit flow:run hello '"it'"'"'s\\n抹茶"'`,
    )
  })

  test("without an input, with a negative one, with a context", () => {
    expect(cliCommand({ key: "/flow/a b", input: undefined })).toBe("flowkit flow:run 'a b'")
    expect(cliCommand({ key: "/flow/x", input: -5 })).toBe("flowkit flow:run -- x -5")
    expect(cliCommand({ key: "/flow/x", input: 1, context: { auth: { uid: "ada" } } })).toBe(
      `flowkit flow:run --context '{"auth":{"uid":"ada"}}' x 1`,
    )
  })

  test("a long input comes from stdin", () => {
    const command = cliCommand({ key: "/flow/x", input: "y".repeat(200_000) }) as string
    expect(command.split("\n").map((line) => line.length < 100)).toEqual([true, false, true])
    expect(command).toMatch(/^flowkit flow:run x - <<'INPUT'\n/)
  })

  test("only flows have a command line and an endpoint", () => {
    expect(cliCommand({ key: "/tool/today", input: 1 })).toBeUndefined()
    expect(serveCurl({ key: "/tool/today", input: 1 })).toBeUndefined()
    expect(serveCurl({ key: "/flow/a b", input: "x" })).toBe(
      `curl -s http://127.0.0.1:8000/a%20b -H 'Content-Type: application/json' -d '{"data":"x"}'`,
    )
    expect(devCurl({ key: "/tool/today", input: 1 }, "http://127.0.0.1:4100")).toContain(
      `'{"key":"/tool/today","input":1}'`,
    )
  })

  test("Python", () => {
    expect(pythonLiteral({ a: [true, null, 1.5], 'b"c': "日本" })).toBe(
      `{"a": [True, None, 1.5], "b\\"c": "日本"}`,
    )
    expect(pythonScript({ key: "/flow/order", input: { n: 1 }, function: "app.take_order" })).toContain(
      'from app import take_order\n\n\nasync def main():\n    print(await take_order.run({"n": 1}))',
    )
    expect(pythonScript({ key: "/flow/x", input: undefined, function: "app.make.<locals>.x" })).toContain(
      `from app import ai\n\n\nasync def main():\n    print(await (await ai.registry.get("/flow/x")).run(None))`,
    )
  })
})

suite("the form of an output", () => {
  test.each([
    [undefined, "nothing"],
    [null, "nothing"],
    ["", "nothing"],
    ["text", "text"],
    ["data:image/png;base64,AAAA", "media"],
    [{ media: { url: "data:audio/wav;base64,AAAA" } }, "media"],
    [{ message: { role: "model", content: [{ text: "hi" }] } }, "messages"],
    [[{ content: [{ text: "a" }], metadata: {} }], "documents"],
    [{ documents: [{ content: [{ text: "a" }] }] }, "documents"],
    [{ text: "a", n: 1 }, "record"],
    [[1, 2], "json"],
    [[], "json"],
    [{}, "json"],
    [0, "json"],
    [false, "json"],
  ])("%j is shown as %s", (value, shape) => {
    expect(shapeOf(value)).toBe(shape)
  })

  test("the type of media is that of the part, else of the address", () => {
    expect(mediaOf({ media: { url: "data:;base64,AA", contentType: "image/webp" } })?.type).toBe("image/webp")
    expect(mediaOf("data:image/png;base64,AA")?.type).toBe("image/png")
    expect(mediaOf("database: yes")).toBeUndefined()
    expect(mediaOf("https://example.com/a.png")).toBeUndefined()
  })

  test("chunks of text add up, of models too; others do not", () => {
    expect(
      streamedText([
        "a",
        { content: [{ text: "b" }, { text: "c" }] },
        { message: { content: [{ text: "d" }] } },
      ]),
    ).toBe("abcd")
    expect(streamedText(["a", { n: 1 }])).toBeUndefined()
    expect(chunkText(5)).toBeUndefined()
  })

  test("what grows is cut where nothing changes any more", () => {
    const text = "One.\n\n- a\n- b\n\n```py\nx\n\ny\n```\n\nend"
    expect(blocksOf(text)).toEqual(["One.", "- a\n- b", "```py\nx\n\ny\n```", "end"])
    expect(blocksOf("```\nopen\n\nstill")).toEqual(["```\nopen\n\nstill"])
    expect(blocksOf("")).toEqual([""])
  })
})

suite("inputs", () => {
  test("secrets that were taken out are named", () => {
    expect(redactedPlaces({ a: 1, login: { password: "<redacted>" }, keys: ["<redacted>"] })).toEqual([
      "login.password",
      "keys.0",
    ])
    expect(redactedPlaces("text")).toEqual([])
    expect(withoutSecrets({ a: 1, login: { password: "<redacted>" }, keys: ["<redacted>", 2] })).toEqual({
      a: 1,
      login: {},
      keys: [null, 2],
    })
  })

  test("an example says what is required", () => {
    const schema = {
      type: "object",
      required: ["name", "size", "n", "tags"],
      properties: {
        name: { type: "string", examples: ["Ada"] },
        size: { enum: ["s", "m"] },
        n: { type: "integer", exclusiveMinimum: 3 },
        tags: { type: "array", items: { type: "string", minLength: 3 } },
        more: { type: "string" },
      },
    }
    expect(exampleOf(rootNode(schema))).toEqual({ name: "Ada", size: "s", n: 4, tags: ["text"] })
    expect(exampleOf(rootNode({ type: "string", default: "soup" }))).toBe("soup")
    expect(exampleOf(rootNode({}))).toBeUndefined()
  })
})
