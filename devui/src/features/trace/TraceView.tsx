/**
 * A trace: its spans as tree, timeline, graph or log, and the details of the selected one.
 *
 *     <TraceView traceId={run.traceId} live={running} compact />
 */
import { useNavigate } from "@tanstack/react-router"
import { lazy, Suspense, useRef, useState } from "react"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { Skeleton } from "@/components/ui/Skeleton"
import { SplitPane } from "@/components/ui/SplitPane"
import { useKeyDown } from "@/components/useKeyDown"
import { useNow } from "@/components/useNow"
import { runTarget } from "./details/runTarget"
import { SpanDetails } from "./details/SpanDetails"
import { isChord, isLetter, moved } from "./keys"
import { WHOLE } from "./model/time"
import { nextError, type TraceNode } from "./model/tree"
import { Notes } from "./Notes"
import { Toolbar, type View } from "./Toolbar"
import styles from "./TraceView.module.css"
import { useTrace } from "./useTrace"
import { useTraceView } from "./useTraceView"
import { Waterfall, type WaterfallHandle } from "./Waterfall"

const TimelineView = lazy(() => import("./TimelineView"))
const GraphView = lazy(() => import("./GraphView"))
const LogView = lazy(() => import("./LogView"))

interface TraceViewProps {
  traceId: string
  /** It has just been started: it is followed even before the store knows it. */
  live?: boolean | undefined
  /** Beside something else: details below, and no keys outside the list. */
  compact?: boolean | undefined
  selected?: string | undefined
  onSelect?: ((spanId: string) => void) | undefined
  view?: View | undefined
  onView?: ((view: View) => void) | undefined
  tab?: string | undefined
  onTab?: ((tab: string) => void) | undefined
}

export function TraceView(props: TraceViewProps) {
  // Another trace is looked at anew: nothing of the last one stays folded or zoomed.
  return <Shown key={props.traceId} {...props} />
}

function Shown({ traceId, live = false, compact = false, ...props }: TraceViewProps) {
  const navigate = useNavigate()
  const trace = useTrace(traceId, live)
  const { tree, running } = trace
  const now = useNow(running ? 100 : undefined)
  const [ownSelected, setOwnSelected] = useState<string>()
  const [ownView, setOwnView] = useState<View>("tree")
  const [ownTab, setOwnTab] = useState<string>()
  const state = useTraceView(tree, running, now, props.selected ?? ownSelected)
  const search = useRef<HTMLInputElement>(null)
  const list = useRef<WaterfallHandle>(null)
  const details = useRef<HTMLElement>(null)

  const view = props.view ?? ownView
  const onView = props.onView ?? setOwnView
  const selected = state.selected ?? state.failed ?? (compact ? undefined : tree.roots[0])
  const select = (node: TraceNode) => {
    state.reveal(node)
    ;(props.onSelect ?? setOwnSelected)(node.span.id)
  }

  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const move = moved(event.key, state.rows, selected, state.collapsed)
    if (move === undefined) return
    event.preventDefault()
    if (move.type === "select") select(move.node)
    else if (move.type === "toggle") state.toggle(move.node)
    else details.current?.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus()
  }

  const onLetter = (event: KeyboardEvent) => {
    if (isChord(event) || !isLetter(event)) return
    const target = selected && runTarget(selected)
    const does: Record<string, (() => void) | undefined> = {
      "/": () => search.current?.focus(),
      "[": state.collapseAll,
      "]": state.expandAll,
      t: () => onView(view === "timeline" ? "tree" : "timeline"),
      e: () => {
        const error = nextError(tree, selected)
        if (error !== undefined) select(error)
        list.current?.focus()
      },
      r:
        target &&
        (() => navigate({ to: target.path, search: { from: traceId, span: target.span.id } as never })),
    }
    const chosen = does[event.key.toLowerCase()]
    if (chosen === undefined) return
    event.preventDefault()
    chosen()
  }
  useKeyDown(onLetter, !compact)

  if (tree.nodes.length === 0) {
    if (trace.loading) return <Skeleton lines={8} />
    if (trace.error) return <Failure error={trace.error} onRetry={trace.retry} />
    return <Empty title="No spans yet" text="They appear here as they start." />
  }

  const common = { tree, state, selected, now: state.end, live: running, onSelect: select }
  const first = (
    <div className={styles.views} data-compact={compact}>
      <Toolbar
        view={view}
        onView={onView}
        query={state.query}
        onQuery={state.setQuery}
        found={state.found?.size}
        onFirst={() => {
          const node = state.rows.find((row) => state.found?.has(row)) ?? state.rows[0]
          if (node !== undefined) select(node)
          list.current?.focus()
        }}
        search={search}
        zoomed={state.window !== WHOLE && (view === "tree" || view === "timeline")}
        onWhole={() => state.setWindow(WHOLE)}
        idle={state.offersCompression ? state.idle.share : undefined}
        compressed={state.compressed}
        onCompress={state.setCompressed}
        onCollapse={state.collapseAll}
        onExpand={state.expandAll}
      />
      <Notes trace={trace} />
      <div className={styles.view}>
        <Suspense fallback={<Skeleton lines={8} />}>
          {view === "tree" && (
            <Waterfall
              ref={list}
              tree={tree}
              rows={state.rows}
              found={state.found}
              collapsed={state.collapsed}
              selected={selected}
              scale={state.scale}
              window={state.window}
              now={state.end}
              live={running}
              onWindow={state.setWindow}
              onSelect={select}
              onToggle={state.toggle}
              onHover={state.setHovered}
              onKeyDown={onKeyDown}
            />
          )}
          {view === "timeline" && <TimelineView {...common} />}
          {view === "graph" && <GraphView {...common} />}
          {view === "log" && <LogView {...common} traceId={traceId} />}
        </Suspense>
      </div>
    </div>
  )
  return (
    <SplitPane
      id={compact ? "trace.compact" : "trace"}
      direction={compact ? "column" : "row"}
      defaultSize={compact ? 280 : 520}
      min={compact ? 140 : 280}
      label="Size of the span's details"
      first={first}
      second={
        <section ref={details} className={styles.details} aria-label="Span details">
          {selected === undefined ? (
            <Empty title="No span is selected" text="Choose a row to see its input and output." />
          ) : (
            <SpanDetails
              key={selected.span.id}
              traceId={traceId}
              node={selected}
              live={running}
              hovered={state.hovered === selected ? undefined : state.hovered?.span}
              tab={props.tab ?? ownTab}
              onTab={props.onTab ?? setOwnTab}
            />
          )}
        </section>
      }
    />
  )
}
