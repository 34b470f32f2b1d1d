/** What the action is given: as a form or as JSON, with its context beside it. */
import { useQuery } from "@tanstack/react-query"
import { Play, Square } from "lucide-react"
import { type KeyboardEvent, useEffect, useRef, useState } from "react"
import type { ActionData } from "@/api/schema"
import { CodeEditor } from "@/components/CodeEditor"
import type { FieldProblem } from "@/components/schema-form/check"
import { focusFirstProblem } from "@/components/schema-form/form"
import { SchemaForm } from "@/components/schema-form/SchemaForm"
import { TraceLink } from "@/components/TraceLink"
import { Button } from "@/components/ui/Button"
import { Kbd } from "@/components/ui/Kbd"
import { Segmented } from "@/components/ui/Segmented"
import { TabPanel, Tabs } from "@/components/ui/Tabs"
import { CopyAs } from "./CopyAs"
import { FillMenu } from "./FillMenu"
import { pastInputsQuery, useFill } from "./pastInputs"
import type { Origin } from "./Runner"
import styles from "./runner.module.css"
import type { Input } from "./useInput"

interface InputPanelProps {
  action: ActionData
  input: Input
  errors: readonly FieldProblem[]
  /** Grows with each refusal. */
  attempt: number
  origin: Origin | undefined
  busy: boolean
  running: boolean
  onRun: () => void
  onCancel: () => void
}

export function InputPanel(props: InputPanelProps) {
  const { action, input, errors, attempt, origin, busy, running, onRun, onCancel } = props
  const [tab, setTab] = useState("input")
  const fields = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (attempt === 0) return
    setTab("input")
    const frame = requestAnimationFrame(() => focusFirstProblem(fields.current))
    return () => cancelAnimationFrame(frame)
  }, [attempt])
  const past = useQuery(pastInputsQuery(action.key)).data?.inputs ?? []
  const fill = useFill(input)
  const takesNone = action.inputSchema === undefined || action.inputSchema === null

  /** The last input comes back with ↑ where nothing is written yet. */
  const recall = (event: KeyboardEvent) => {
    const [last] = past
    if (
      event.key !== "ArrowUp" ||
      !input.empty ||
      last === undefined ||
      event.altKey ||
      event.ctrlKey ||
      event.metaKey
    )
      return
    const { target } = event
    const field = target as HTMLInputElement
    if ((field.tagName === "INPUT" || field.tagName === "TEXTAREA") && field.value !== "") return
    if (field.tagName === "SELECT") return
    event.preventDefault()
    event.stopPropagation()
    void fill(last)
  }

  return (
    <section className={styles.panel} aria-label="Input">
      <Tabs
        label="Parts of the input"
        value={tab}
        onChange={setTab}
        items={[
          { value: "input", label: "Input" },
          { value: "context", label: "Context" },
        ]}
        actions={
          <>
            <FillMenu action={action} input={input} past={past} onPick={(one) => void fill(one)} />
            <Segmented
              label="Form or JSON"
              value={input.mode}
              items={[
                { value: "form", label: "Form" },
                { value: "json", label: "JSON" },
              ]}
              onChange={input.setMode}
            />
          </>
        }
      >
        <TabPanel value="input">
          <div
            ref={fields}
            className={input.mode === "json" ? styles.editor : styles.scroll}
            onKeyDownCapture={recall}
          >
            {origin !== undefined && <OriginNote origin={origin} />}
            {input.mode === "json" ? (
              <>
                <CodeEditor
                  label="Input as JSON"
                  language="json"
                  value={input.text}
                  onChange={input.setText}
                  diagnostics={input.problem === undefined ? NONE : [input.problem]}
                  onSubmit={onRun}
                />
                <ProblemLine input={input} />
                <Refusals errors={input.problem === undefined ? errors : []} />
              </>
            ) : takesNone ? (
              <p className={styles.quiet}>It takes no input.</p>
            ) : (
              <SchemaForm
                schema={action.inputSchema}
                value={input.value}
                onChange={input.setValue}
                errors={errors}
                onValidity={(valid) => input.setBroken(!valid)}
              />
            )}
          </div>
        </TabPanel>
        <TabPanel value="context">
          <div className={styles.editor}>
            <p className={styles.quiet}>
              What the flow finds in <code>ctx.context</code>, <code>auth</code> above all, as JSON.
            </p>
            <CodeEditor
              label="Context as JSON"
              language="json"
              value={input.context}
              onChange={input.setContext}
              diagnostics={input.contextProblem === undefined ? NONE : [input.contextProblem]}
              onSubmit={onRun}
            />
            {input.contextProblem !== undefined && (
              <p className={styles.problem} role="alert">
                Line {input.contextProblem.line}, column {input.contextProblem.column}:{" "}
                {input.contextProblem.message}
              </p>
            )}
          </div>
        </TabPanel>
      </Tabs>
      <div className={styles.foot}>
        {running ? (
          <Button variant="danger" icon={<Square aria-hidden />} onClick={onCancel}>
            Cancel
          </Button>
        ) : (
          <Button
            variant="primary"
            icon={<Play aria-hidden />}
            busy={busy}
            disabled={!input.ready}
            onClick={onRun}
          >
            Run
          </Button>
        )}
        <span className={styles.keys}>{running ? <Kbd keys="Escape" /> : <Kbd keys="Mod+Enter" />}</span>
        <span className={styles.grow} />
        <CopyAs action={action} input={input} />
      </div>
    </section>
  )
}

const NONE: readonly never[] = []

function ProblemLine({ input }: { input: Input }) {
  if (input.problem === undefined) return null
  const { line, column, message } = input.problem
  return (
    <p className={styles.problem} role="alert">
      Line {line}, column {column}: {message}
    </p>
  )
}

/** In JSON there are no fields to stand beside. */
function Refusals({ errors }: { errors: readonly FieldProblem[] }) {
  if (errors.length === 0) return null
  return (
    <section
      className={styles.problems}
      role="alert"
      data-invalid="true"
      tabIndex={-1}
      aria-label="What is wrong with the input"
    >
      <ul>
        {errors.map(({ path, message }) => (
          <li key={`${path.join(".")} ${message}`}>
            {path.length > 0 && <code>{path.join(".")}</code>} {message}
          </li>
        ))}
      </ul>
    </section>
  )
}

function OriginNote({ origin }: { origin: Origin }) {
  return (
    <p className={styles.note} role="note">
      The input of trace <TraceLink traceId={origin.traceId} />.
      {origin.redacted.length > 0 && (
        <>
          {" "}
          Secrets were not kept; give them again: <strong>{origin.redacted.join(", ")}</strong>
        </>
      )}
    </p>
  )
}
