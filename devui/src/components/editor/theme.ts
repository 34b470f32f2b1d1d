/** How CodeMirror looks here: the page's own colours, so that both themes are one. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language"
import type { Extension } from "@codemirror/state"
import { EditorView } from "@codemirror/view"
import { tags } from "@lezer/highlight"
import { cspNonce } from "@/lib/nonce"

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--ok)" },
  { tag: tags.number, color: "var(--kind-model)" },
  { tag: [tags.bool, tags.null, tags.keyword], color: "var(--kind-embedder)" },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: "var(--text-3)" },
])

const look = EditorView.theme({
  "&": {
    color: "var(--text)",
    backgroundColor: "transparent",
    fontSize: "var(--size-s)",
    flex: "1",
    minHeight: "0",
  },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)", padding: "6px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--text-3)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 6px 0 8px", minWidth: "26px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--bg-hover), transparent 50%)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft)",
  },
  ".cm-foldPlaceholder": {
    background: "var(--bg-hover)",
    border: "none",
    color: "var(--text-2)",
    padding: "0 4px",
  },
  ".cm-tooltip": {
    border: "1px solid var(--line)",
    borderRadius: "var(--radius)",
    backgroundColor: "var(--bg-raised)",
    color: "var(--text)",
    boxShadow: "var(--shadow)",
    overflow: "hidden",
  },
  ".cm-diagnostic": { padding: "4px 8px", fontFamily: "var(--sans)" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--error)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--error)",
    textUnderlineOffset: "3px",
  },
  ".cm-panels": { backgroundColor: "var(--bg-sunken)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-panels input, .cm-panels button": {
    border: "1px solid var(--line-strong)",
    borderRadius: "4px",
    background: "var(--bg-raised)",
    color: "var(--text)",
    fontSize: "var(--size-s)",
  },
  ".cm-searchMatch": { backgroundColor: "var(--mark)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--bg-hover)",
    outline: "none",
  },
  ".cm-changedLine": { backgroundColor: "var(--warn-soft) !important" },
  // A line under the letters: a colour behind them would leave too little contrast.
  ".cm-changedText": {
    background: "none !important",
    boxShadow: "inset 0 -2px 0 var(--warn)",
    fontWeight: "600",
  },
  ".cm-collapsedLines": {
    background: "var(--bg-hover) !important",
    color: "var(--text-2) !important",
    padding: "3px 10px",
  },
})

export function sharedLook(): Extension[] {
  const nonce = cspNonce()
  return [look, syntaxHighlighting(colours), ...(nonce === undefined ? [] : [EditorView.cspNonce.of(nonce)])]
}
