/**
 * The input of an action as it is being written: form or JSON, one value, kept as a draft.
 *
 *     const input = useInput(action)
 *     input.setValue({ question: "…" })
 */
import { useCallback, useEffect, useMemo, useState } from "react"
import type { ActionData } from "@/api/schema"
import { type Problem, type Read, readJson, writeJson } from "@/components/schema-form/jsonText"
import { isRecord } from "@/lib/json"
import { draftOf, type Mode, saveDraft } from "./drafts"

const SAVE_MS = 300

export interface Input {
  mode: Mode
  /** What the form shows; while the JSON is none, the last that was. */
  value: unknown
  text: string
  /** Why the text is no JSON, in JSON mode. */
  problem: Problem | undefined
  context: string
  contextProblem: Problem | undefined
  /** A JSON field of the form holds no JSON. */
  broken: boolean
  /** There is nothing that stands in the way of a run. */
  ready: boolean
  /** Nothing was written. */
  empty: boolean
  setValue: (value: unknown) => void
  setText: (text: string) => void
  setContext: (text: string) => void
  setBroken: (broken: boolean) => void
  /** Switch between form and JSON; what is no JSON stays where it is. */
  setMode: (mode: Mode) => void
  /** Another input altogether. */
  fill: (value: unknown, context?: unknown) => void
  contextValue: () => Record<string, unknown> | undefined
}

interface State {
  mode: Mode
  value: unknown
  text: string
  context: string
}

export function useInput(action: ActionData): Input {
  const [state, setState] = useState<State>(() => firstState(action.key))
  const [broken, setBroken] = useState(false)
  const { mode, value, text, context } = state
  const read = useMemo(() => readText(mode === "json" ? text : ""), [mode, text])
  const contextRead = useMemo(() => readContext(context), [context])

  useEffect(() => {
    const save = () =>
      saveDraft(action.key, { mode, context, text: mode === "json" ? text : writeJson(value) })
    const timer = setTimeout(save, SAVE_MS)
    window.addEventListener("pagehide", save)
    return () => {
      clearTimeout(timer)
      window.removeEventListener("pagehide", save)
      save()
    }
  }, [action.key, mode, text, value, context])

  const setValue = useCallback((next: unknown) => setState((now) => ({ ...now, value: next })), [])
  const setText = useCallback((next: string) => {
    const found = readText(next)
    setState((now) => ({ ...now, text: next, value: found.problem === undefined ? found.value : now.value }))
  }, [])
  const setContext = useCallback((next: string) => setState((now) => ({ ...now, context: next })), [])
  const setMode = useCallback((next: Mode) => {
    setState((now) => {
      if (now.mode === next) return now
      if (next === "json")
        return { ...now, mode: next, text: sameText(now) ? now.text : writeJson(now.value) }
      return readText(now.text).problem === undefined ? { ...now, mode: next } : now
    })
  }, [])
  const fill = useCallback((next: unknown, nextContext?: unknown) => {
    setState((now) => ({
      ...now,
      value: next,
      text: writeJson(next),
      context:
        isRecord(nextContext) && Object.keys(nextContext).length > 0 ? writeJson(nextContext) : now.context,
    }))
  }, [])

  const problem = read.problem
  const contextProblem = contextRead.problem
  return {
    mode,
    value,
    text,
    problem,
    context,
    contextProblem,
    broken,
    ready: problem === undefined && contextProblem === undefined && (mode === "json" || !broken),
    empty: mode === "json" ? text.trim() === "" : isEmpty(value),
    setValue,
    setText,
    setContext,
    setBroken,
    setMode,
    fill,
    contextValue: () =>
      contextRead.problem === undefined ? (contextRead.value as Record<string, unknown>) : undefined,
  }
}

function firstState(key: string): State {
  const draft = draftOf(key)
  if (draft === undefined) return { mode: "form", value: undefined, text: "", context: "" }
  const read = readText(draft.text)
  if (read.problem !== undefined) return { ...draft, mode: "json", value: undefined }
  return { ...draft, value: read.value }
}

/** The text still means the value: its layout is kept. */
function sameText({ text, value }: State): boolean {
  const read = readText(text)
  return read.problem === undefined && JSON.stringify(read.value) === JSON.stringify(value)
}

function readText(text: string): Read {
  return text.trim() === "" ? { value: undefined } : readJson(text)
}

function readContext(text: string): Read {
  const read = readText(text)
  if (read.problem !== undefined || read.value === undefined || isRecord(read.value)) return read
  return {
    problem: { line: 1, column: 1, message: 'A context is an object, for instance {"auth": {"uid": "ada"}}' },
  }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === "" || (isRecord(value) && Object.keys(value).length === 0)
}
