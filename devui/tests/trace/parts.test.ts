import { describe, expect, it } from "vitest"
import type { SpanData } from "@/api/schema"
import { callsOf } from "@/features/trace/model/graph"
import { newer, spanOfGenkit, tokensOf } from "@/features/trace/model/span"
import { folded, tracebackOf } from "@/features/trace/model/traceback"
import { treeOf } from "@/features/trace/model/tree"
import { cliCommand, devCurl } from "@/lib/copyAs"
import { span } from "./make"

const STACK = `Traceback (most recent call last):
  File "/srv/menu/.venv/lib/python3.12/site-packages/flowkit/core/action.py", line 10, in call
    return await fn(value)
           ^^^^^^^^^^^^^^^
  File "/srv/menu/.venv/lib/python3.12/site-packages/flowkit/core/run.py", line 5, in run
    return fn()
  File "/srv/menu/app.py", line 42, in cook
    return soup["today"]
KeyError: 'today'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/menu/app.py", line 44, in cook
    raise ValueError("no soup today") from error
ValueError: no soup today
flowkit: in /flow/cook
`

describe("a traceback", () => {
  it("is a chain, with the frames of libraries told from those of the user", () => {
    const chain = tracebackOf(STACK)

    expect(chain.map((raised) => raised.link)).toEqual([undefined, "cause"])
    expect(chain[0]?.frames.map((frame) => frame.library)).toEqual([true, true, false])
    expect(chain[0]?.frames[2]).toMatchObject({
      file: "/srv/menu/app.py",
      line: 42,
      code: ['return soup["today"]'],
    })
    expect(chain[1]?.message).toBe("ValueError: no soup today\nflowkit: in /flow/cook")
    expect(folded(chain[0]?.frames ?? []).map((group) => group.frames.length)).toEqual([2, 1])
  })

  it("is none in the stack of another language", () => {
    expect(tracebackOf("Error: no soup\n    at cook (app.js:3:1)")).toEqual([])
  })
})

describe("what a stream tells of a span", () => {
  const told = (more: Partial<SpanData>) => spanOfGenkit({ ...plain, ...more } as SpanData)
  const plain = {
    spanId: "1",
    traceId: "2",
    displayName: "cook",
    startTime: 5,
    endTime: 0,
    parentSpanId: null,
    spanKind: "INTERNAL",
    instrumentationLibrary: { name: "genkit-tracer", version: "v1" },
    links: null,
    sameProcessAsParentSpan: null,
    status: null,
    timeEvents: null,
    truncated: null,
  }

  it("is what the outline has of it", () => {
    const attributes = {
      "genkit:type": "action",
      "genkit:metadata:subtype": "model",
      "genkit:key": "/model/fake",
      "genkit:input": '{"n":1}',
      "genkit:output": JSON.stringify("x".repeat(5000)),
      "gen_ai.usage.input_tokens": 3,
    }
    const made = told({ attributes })

    expect(made).toMatchObject({
      label: "model",
      key: "/model/fake",
      input: { n: 1 },
      end: undefined,
      state: undefined,
    })
    expect(made.output).toBeUndefined()
    expect(made.outputBytes).toBe(5002)
    expect(tokensOf(made)).toEqual({ input: 3, output: 0 })
  })

  it("tells that it was cancelled, or failed", () => {
    const status = { code: 2, message: "no soup" } as SpanData["status"]
    const timeEvents = {
      timeEvent: [
        { time: 8, annotation: { description: "exception", attributes: { "exception.type": "ValueError" } } },
      ],
    } as SpanData["timeEvents"]

    expect(
      told({ endTime: 9, attributes: { "genkit:state": "error", "flowkit:state": "cancelled" } }).state,
    ).toBe("cancelled")
    expect(told({ endTime: 9, attributes: {}, status, timeEvents })).toMatchObject({
      state: "error",
      error: { type: "ValueError", message: "no soup" },
    })
  })

  it("never takes an end back", () => {
    const ended = span("a")

    expect(newer(ended, span("a", { end: undefined }))).toBe(ended)
    expect(newer(span("a", { end: undefined }), ended)).toBe(ended)
  })
})

describe("the calls of a trace", () => {
  it("are counted between actions", () => {
    const model = { parentId: "root", key: "/model/fake", kind: "model" }
    const { points, lines } = callsOf(
      treeOf([
        span("root"),
        span("a", { ...model, start: 1 }),
        span("b", { ...model, start: 2, state: "error" }),
      ]),
    )

    expect(points.map((point) => [point.id, point.count, point.errors])).toEqual([
      ["/flow/root", 1, 0],
      ["/model/fake", 2, 1],
    ])
    expect(lines).toEqual([{ from: "/flow/root", to: "/model/fake", count: 2, errors: 1 }])
  })
})

describe("copied commands", () => {
  it("are quoted for a shell, and leave an input out that there was not", () => {
    expect(cliCommand({ key: "/flow/menuQA", input: "it's おいしい" })).toContain("flow:run menuQA ")
    expect(cliCommand({ key: "/flow/menuQA", input: undefined })).toBe("flowkit flow:run menuQA")
    expect(cliCommand({ key: "/model/fake", input: 1 })).toBeUndefined()
    expect(devCurl({ key: "/model/fake", input: undefined }, "http://127.0.0.1:4100")).not.toContain("input")
  })
})
