/** Run an action: its input on the left, its output in the middle, its trace and history on the right. */
import { useEffect, useRef, useState } from "react"
import { keys, queryClient } from "@/api/queries"
import type { ActionData } from "@/api/schema"
import { useFollower, useHead } from "@/api/useRun"
import { rootNode } from "@/components/schema-form/schema"
import { withRequired } from "@/components/schema-form/values"
import { Confirm } from "@/components/ui/Confirm"
import { SplitPane } from "@/components/ui/SplitPane"
import { failed } from "@/components/ui/toast"
import { InputPanel } from "./InputPanel"
import { OutputPanel } from "./OutputPanel"
import { SidePanel } from "./SidePanel"
import { useAddress } from "./useAddress"
import { useErrors } from "./useErrors"
import { useInput } from "./useInput"
import { useRunnerKeys } from "./useRunnerKeys"

/** Where an input was taken from. */
export interface Origin {
  traceId: string
  redacted: readonly string[]
}

export function Runner({ action, bench = false }: { action: ActionData; bench?: boolean }) {
  const input = useInput(action)
  const errors = useErrors(action, input.value)
  const follower = useFollower()
  const run = useHead(follower)
  const [checking, setChecking] = useState(false)
  const [asking, setAsking] = useState(false)
  const [origin, setOrigin] = useState<Origin>()
  const output = useRef<HTMLElement>(null)
  // One that was started elsewhere can be looked at, not stopped; it does not stand in the way of another.
  const running = (run.status === "running" || run.status === "starting") && run.run?.runId !== ""

  const address = useAddress(action, {
    follower,
    run,
    bench,
    onInput: (traceId, { value, context, redacted }) => {
      input.fill(value, context)
      setOrigin({ traceId, redacted })
    },
  })

  const cancel = () => void follower.cancel().catch(failed("It could not be cancelled"))

  const start = async () => {
    if (running || checking || !input.ready) return
    const form = input.mode === "form"
    const value = form ? withRequired(input.value, rootNode(action.inputSchema)) : input.value
    if (value !== input.value) input.setValue(value)
    setChecking(true)
    try {
      if (!(await errors.check(value))) return
      const started = await follower.start({ key: action.key, input: value, context: input.contextValue() })
      if (started === undefined) return
      address.setRun(started.traceId ?? started.runId)
      setOrigin(undefined)
      // On a phone, the output is below what was just filled in.
      if (matchMedia("(max-width: 700px)").matches) output.current?.scrollIntoView({ behavior: "smooth" })
    } finally {
      setChecking(false)
    }
  }

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
                action={action}
                input={input}
                errors={errors.shown}
                attempt={errors.attempt}
                origin={origin}
                busy={running || checking}
                running={running}
                onRun={() => void start()}
                onCancel={cancel}
              />
            }
            second={
              <OutputPanel
                ref={output}
                action={action}
                run={run}
                follower={follower}
                onCancel={cancel}
                onRetry={() => void start()}
              />
            }
          />
        }
        second={<SidePanel action={action} run={run} onShow={address.setRun} onUse={address.take} />}
      />
      <Confirm
        open={asking && running}
        onClose={() => setAsking(false)}
        onConfirm={() => {
          setAsking(false)
          cancel()
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
