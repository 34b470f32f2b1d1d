/** The comparison itself; see DiffView. */
import { json } from "@codemirror/lang-json"
import { MergeView } from "@codemirror/merge"
import { EditorState } from "@codemirror/state"
import { EditorView, lineNumbers } from "@codemirror/view"
import { useEffect, useRef } from "react"
import type { DiffViewProps } from "../DiffView"
import { sharedLook } from "./theme"

export default function Diff({
  before,
  after,
  onlyDifferences,
  labels = ["Before", "After"],
}: DiffViewProps) {
  const host = useRef<HTMLDivElement>(null)
  const [first, second] = labels

  useEffect(() => {
    if (host.current === null) return
    const side = (doc: string, label: string) => ({
      doc,
      extensions: [
        lineNumbers(),
        json(),
        EditorView.lineWrapping,
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true" }),
        ...sharedLook(),
      ],
    })
    const made = new MergeView({
      parent: host.current,
      a: side(before, first),
      b: side(after, second),
      gutter: true,
      ...(onlyDifferences ? { collapseUnchanged: { margin: 2, minSize: 4 } } : {}),
    })
    return () => made.destroy()
  }, [before, after, onlyDifferences, first, second])

  return <div ref={host} style={{ overflow: "auto", flex: 1, minHeight: 0 }} />
}
