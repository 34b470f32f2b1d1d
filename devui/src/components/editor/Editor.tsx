/** The editor itself; see CodeEditor. */
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete"
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands"
import { json } from "@codemirror/lang-json"
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from "@codemirror/language"
import { type Diagnostic as Mark, setDiagnostics } from "@codemirror/lint"
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search"
import { Compartment, EditorState, type Extension, Prec } from "@codemirror/state"
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view"
import { useEffect, useRef } from "react"
import type { CodeEditorProps } from "../CodeEditor"
import { sharedLook } from "./theme"

const NONE: NonNullable<CodeEditorProps["diagnostics"]> = []

export default function Editor(props: CodeEditorProps) {
  const { value, language, label, readOnly = false, diagnostics = NONE, maxHeight } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const may = useRef(new Compartment())
  // What the editor calls is always what the last render has given.
  const calls = useRef(props)
  calls.current = props

  // biome-ignore lint/correctness/useExhaustiveDependencies: made once; later changes go into it below
  useEffect(() => {
    if (host.current === null) return
    const made = new EditorView({
      parent: host.current,
      doc: value,
      extensions: [
        Prec.highest(
          keymap.of([
            {
              key: "Mod-Enter",
              run: () => {
                const submit = calls.current.onSubmit
                submit?.()
                return submit !== undefined
              },
            },
          ]),
        ),
        ...basics(),
        ...(language === "json" ? [json()] : [EditorView.lineWrapping]),
        may.current.of(editable(readOnly, label)),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.some((one) => one.isUserEvent("given")))
            calls.current.onChange?.(update.state.doc.toString())
        }),
        ...sharedLook(),
      ],
    })
    view.current = made
    return () => {
      made.destroy()
      view.current = undefined
    }
  }, [])

  useEffect(() => {
    const now = view.current
    if (now === undefined || now.state.doc.toString() === value) return
    now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: value }, userEvent: "given" })
  }, [value])

  useEffect(() => {
    view.current?.dispatch({ effects: may.current.reconfigure(editable(readOnly, label)) })
  }, [readOnly, label])

  useEffect(() => {
    const now = view.current
    if (now !== undefined) now.dispatch(setDiagnostics(now.state, marks(now.state, diagnostics)))
  }, [diagnostics])

  return (
    <div
      ref={host}
      style={{ display: "flex", flex: 1, flexDirection: "column", minHeight: 0, minWidth: 0, maxHeight }}
    />
  )
}

function basics(): Extension[] {
  return [
    lineNumbers(),
    foldGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightSelectionMatches(),
    // Tab leaves the editor after Esc, as CodeMirror has it for people without a mouse.
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      indentWithTab,
    ]),
  ]
}

function editable(readOnly: boolean, label: string): Extension {
  return [
    EditorState.readOnly.of(readOnly),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": String(readOnly) }),
  ]
}

function marks(state: EditorState, diagnostics: NonNullable<CodeEditorProps["diagnostics"]>): Mark[] {
  return diagnostics.map(({ line, column, message }) => {
    const at = state.doc.line(Math.max(1, Math.min(line, state.doc.lines)))
    const from = Math.min(at.from + Math.max(0, column - 1), at.to)
    return { from, to: Math.min(from + 1, state.doc.length), severity: "error", message }
  })
}
