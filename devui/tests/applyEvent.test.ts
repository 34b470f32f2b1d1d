import { QueryClient } from "@tanstack/react-query"
import { expect, test } from "vitest"
import { applyEvent } from "@/api/applyEvent"
import type { ActionList, DevEvent, Summary } from "@/api/schema"

const keys = {
  actions: ["actions"],
  runtimes: ["runtimes"],
  summaries: ["summaries"],
  stores: ["stores"],
  logs: ["logs"],
  trace: (id: string) => ["trace", id],
  inputs: (key: string) => ["inputs", key],
}

const trace = (change: Partial<Summary>) =>
  ({
    traceId: "t1",
    key: "/flow/a",
    status: "running",
    startTimeMs: 5,
    durationMs: null,
    ...change,
  }) as Summary
const told = (event: Partial<DevEvent>) => event as DevEvent

test("a trace that is shown changes where it is, in lists and in pages", () => {
  const client = new QueryClient()
  client.setQueryData(["summaries", "one"], { traces: [trace({ traceId: "t0" }), trace({})] })
  client.setQueryData(["summaries", "many"], { pages: [{ traces: [trace({})] }], pageParams: [null] })

  applyEvent(client, keys, told({ type: "trace", trace: trace({ status: "success", durationMs: 7 }) }))

  expect(client.getQueryData(["summaries", "one"])).toMatchObject({
    traces: [{ status: "running" }, { status: "success" }],
  })
  expect(client.getQueryData(["summaries", "many"])).toMatchObject({
    pages: [{ traces: [{ durationMs: 7 }] }],
  })
})

test("a new trace does not move what is shown, but the list is known to be old", () => {
  const client = new QueryClient()
  const list = { traces: [trace({ traceId: "t0" })] }
  client.setQueryData(["summaries"], list)

  applyEvent(client, keys, told({ type: "trace", trace: trace({}) }))

  expect(client.getQueryData(["summaries"])).toBe(list)
  expect(client.getQueryState(["summaries"])?.isInvalidated).toBe(true)
})

test("an action shows its last run, and an older one does not replace it", () => {
  const client = new QueryClient()
  client.setQueryData(["actions"], { actions: [{ key: "/flow/a", lastRun: null }] })
  const last = () => client.getQueryData<ActionList>(["actions"])?.actions[0]?.lastRun

  applyEvent(client, keys, told({ type: "trace", trace: trace({ status: "error", durationMs: 3 }) }))
  expect(last()).toMatchObject({ status: "error", durationMs: 3 })

  applyEvent(
    client,
    keys,
    told({ type: "trace", trace: trace({ traceId: "t0", startTimeMs: 1, status: "success" }) }),
  )
  expect(last()).toMatchObject({ traceId: "t1" })
})

test("without a running app, the actions are those of the last one", () => {
  const client = new QueryClient()
  client.setQueryData(["actions"], { actions: [], stale: false })
  applyEvent(client, keys, told({ type: "app", app: { state: "failed" } as never }))
  expect(client.getQueryData(["actions"])).toMatchObject({ stale: true })
})

test("when other processes run, what was told of the app is asked again", () => {
  const client = new QueryClient()
  client.setQueryData(["runtimes", "status"], { version: "1" })
  applyEvent(client, keys, told({ type: "runtimes", runtimes: [] }))
  expect(client.getQueryState(["runtimes", "status"])?.isInvalidated).toBe(true)
})
