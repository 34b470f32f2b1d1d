/** Run an action: its input on the left, its output in the middle, its trace and history on the right. */
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useCallback, useEffect, useRef, useState } from "react"
import { keys, queryClient } from "@/api/queries"
import type { ActionData } from "@/api/schema"
import { focusFirstProblem } from "@/components/schema-form/form"
import { rootNode } from "@/components/schema-form/schema"
import { withRequired } from "@/components/schema-form/values"
import { Confirm } from "@/components/ui/Confirm"
import { SplitPane } from "@/components/ui/SplitPane"
import { toast } from "@/components/ui/toast"
import { InputPanel } from "./InputPanel"
import { OutputPanel } from "./OutputPanel"
import { inputOf, keptRun, runOf } from "./past"
import { SidePanel } from "./SidePanel"
import { useErrors } from "./useErrors"
import { useInput } from "./useInput"
import { useFollower, useHead } from "./useRun"
import { useRunnerKeys } from "./useRunnerKeys"

/** Where an input was taken from. */
export interface Origin {
  traceId: string
  redacted: readonly string[]
}

export function Runner({ action }: { action: ActionData }) {
  const navigate = useNavigate()
  const { from, span, run: shownRun } = useSearch({ from: "/run/$kind/$" })
  const input = useInput(action)
  const errors = useErrors(action, input.value)
  const follower = useFollower()
  const run = useHead(follower)
  const [checking, setChecking] = useState(false)
  const [asking, setAsking] = useState(false)
  const [origin, setOrigin] = useState<Origin>()
  const form = useRef<HTMLDivElement>(null)
  const output = useRef<HTMLElement>(null)
  const running = run.status === "running" || run.status === "starting"

  const setSearch = useCallback(
    (search: { run?: string; tab?: string }) =>
      void navigate({
        to: ".",
        search: (now: { tab?: string }) => ({ ...(now.tab ? { tab: now.tab } : {}), ...search }),
        replace: true,
      }),
    [navigate],
  )

  // "Open in runner": the input of a span, once; then it is a draft like any other.
  const { fill } = input
  useEffect(() => {
    if (from === undefined) return
    let left = false
    inputOf(from, span)
      .then(({ value, context, redacted }) => {
        if (left) return
        fill(value, context)
        setOrigin({ traceId: from, redacted })
        setSearch({})
      })
      .catch((error: unknown) => {
        if (!left)
          toast({
            title: "That input could not be read",
            text: error instanceof Error ? error.message : "",
            tone: "error",
          })
      })
    return () => {
      left = true
    }
  }, [from, span, fill, setSearch])

  // A run in the address: one that the server knows is taken up again, another is shown as its trace has it.
  const current = run.run
  useEffect(() => {
    if (shownRun === undefined || current?.runId === shownRun || current?.traceId === shownRun) return
    let left = false
    const take = async () => {
      const kept = await keptRun(shownRun)
      if (left) return
      if (kept !== undefined) follower.attach(kept)
      else {
        const past = await runOf(shownRun, action.key)
        if (!left) follower.show(past)
      }
    }
    take().catch((error: unknown) => {
      if (!left)
        toast({
          title: "That run is no longer there",
          text: error instanceof Error ? error.message : "",
          tone: "error",
        })
    })
    return () => {
      left = true
    }
  }, [shownRun, current?.runId, current?.traceId, action.key, follower])

  const start = async () => {
    if (running || checking || !input.ready) return
    const value =
      input.mode === "form" ? withRequired(input.value, rootNode(action.inputSchema)) : input.value
    if (input.mode === "form" && value !== input.value) input.setValue(value)
    setChecking(true)
    try {
      if (!(await errors.check(value))) return
      const started = await follower.start({ key: action.key, input: value, context: input.contextValue() })
      if (started === undefined) return
      setSearch({ run: started.traceId ?? started.runId })
      // On a phone, the output is below what was just filled in.
      if (matchMedia("(max-width: 700px)").matches) output.current?.scrollIntoView({ behavior: "smooth" })
      setOrigin(undefined)
    } finally {
      setChecking(false)
      void queryClient.invalidateQueries({ queryKey: keys.inputs(action.key) })
    }
  }

  const { attempt } = errors
  useEffect(() => {
    if (attempt > 0) focusFirstProblem(form.current)
  }, [attempt])
  useEffect(() => {
    // What was run is an input of the past now.
    if (run.status !== undefined && !running)
      void queryClient.invalidateQueries({ queryKey: keys.inputs(action.key) })
  }, [run.status, running, action.key])

  useRunnerKeys({
    run: () => void start(),
    toggle: () => input.setMode(input.mode === "form" ? "json" : "form"),
    cancel: running ? () => setAsking(true) : undefined,
  })

  return (
    <>
      <SplitPane
        id="runner"
        defaultSize={420}
        min={280}
        label="Size of trace and history"
        first={
          <SplitPane
            id="runner-input"
            defaultSize={440}
            min={260}
            label="Size of the output"
            first={
              <InputPanel
                ref={form}
                action={action}
                input={input}
                errors={errors.shown}
                origin={origin}
                busy={running || checking}
                running={running}
                onRun={() => void start()}
                onCancel={() => void follower.cancel()}
              />
            }
            second={
              <OutputPanel
                ref={output}
                action={action}
                run={run}
                follower={follower}
                onCancel={() => void follower.cancel()}
                onRetry={() => void start()}
              />
            }
          />
        }
        second={
          <SidePanel
            action={action}
            run={run}
            onShow={(traceId) => setSearch({ run: traceId })}
            onUse={(traceId) => {
              inputOf(traceId, undefined).then(
                ({ value, context, redacted }) => {
                  input.fill(value, context)
                  setOrigin({ traceId, redacted })
                },
                (error: unknown) =>
                  toast({ title: "That input could not be read", text: String(error), tone: "error" }),
              )
            }}
          />
        }
      />
      <Confirm
        open={asking && running}
        onClose={() => setAsking(false)}
        onConfirm={() => {
          setAsking(false)
          void follower.cancel()
        }}
        title="Cancel the run?"
        confirmLabel="Cancel the run"
        danger
      >
        What it has done so far stays in its trace.
      </Confirm>
    </>
  )
}
