/**
 * A text in a machine's language, to be read or changed. CodeMirror is loaded when the first one is shown.
 *
 *     <CodeEditor label="Input" language="json" value={text} onChange={setText} diagnostics={faults} />
 */
import { lazy, Suspense } from "react"
import styles from "./CodeEditor.module.css"

interface Diagnostic {
  /** From 1. */
  line: number
  /** From 1. */
  column: number
  message: string
}

export interface CodeEditorProps {
  value: string
  onChange?: ((value: string) => void) | undefined
  language: "json" | "text"
  label: string
  readOnly?: boolean | undefined
  diagnostics?: readonly Diagnostic[] | undefined
  /** Ctrl/Cmd-Enter. */
  onSubmit?: (() => void) | undefined
  /** Px; more is scrolled. Without it, the editor fills its parent. */
  maxHeight?: number | undefined
}

const Editor = lazy(() => import("./editor/Editor"))

export function CodeEditor(props: CodeEditorProps) {
  return (
    <div className={styles.frame} data-readonly={props.readOnly === true || undefined}>
      <Suspense fallback={<pre className={styles.waiting}>{props.value.slice(0, 20_000)}</pre>}>
        <Editor {...props} />
      </Suspense>
    </div>
  )
}
