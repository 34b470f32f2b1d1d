/** The tree of a trace with its bars, in one list that draws only the rows that are seen. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, type Ref, useCallback, useEffect, useImperativeHandle, useRef } from "react"
import { Axis, useTicks } from "./Axis"
import { Minimap } from "./Minimap"
import type { Scale, Window } from "./model/time"
import type { TraceNode, Tree } from "./model/tree"
import { rowId, SpanRow } from "./SpanRow"
import { useRowHeight, useSize } from "./useSize"
import styles from "./Waterfall.module.css"

const STACKED_BELOW = 480
const STACKED_ROW = 44
const LONG = 100
/** Of times and minimap, where the height follows the rows. */
const HEAD = 90

export interface WaterfallHandle {
  focus: () => void
}

interface WaterfallProps {
  tree: Tree
  rows: readonly TraceNode[]
  found: ReadonlySet<TraceNode> | undefined
  collapsed: ReadonlySet<string>
  selected: TraceNode | undefined
  scale: Scale
  window: Window
  now: number
  live: boolean
  onWindow: (window: Window) => void
  onSelect: (node: TraceNode) => void
  onToggle: (node: TraceNode) => void
  onHover: (node: TraceNode | undefined) => void
  onKeyDown: (event: KeyboardEvent) => void
  ref?: Ref<WaterfallHandle>
}

export function Waterfall(props: WaterfallProps) {
  const { tree, rows, selected, scale, window, now, live } = props
  const scroll = useRef<HTMLDivElement>(null)
  const [measure, { width }] = useSize<HTMLDivElement>()
  const pointer = useRowHeight()
  const stacked = width > 0 && width < STACKED_BELOW
  const height = stacked ? STACKED_ROW : pointer
  const names = stacked ? 0 : Math.round(Math.min(560, Math.max(250, width * 0.44)))
  const ticks = useTicks(scale, window, width - names)

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => height,
    overscan: 10,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are measured again
  useEffect(() => virtual.measure(), [height])

  const at = selected === undefined ? -1 : rows.indexOf(selected)
  const shown = useRef<string>(undefined)
  useEffect(() => {
    const id = selected?.span.id
    if (id === undefined || at < 0 || id === shown.current) return
    virtual.scrollToIndex(at, { align: shown.current === undefined ? "center" : "auto" })
    shown.current = id
  }, [selected, at, virtual])

  const { found } = props
  useEffect(() => {
    // What was found is read from its beginning.
    if (found !== undefined) scroll.current?.scrollTo({ top: 0 })
  }, [found])

  // New rows are followed only while the end is what is looked at.
  const atEnd = useRef(false)
  const onScroll = useCallback(() => {
    const element = scroll.current
    if (element === null) return
    atEnd.current =
      element.scrollTop > 0 && element.scrollHeight - element.scrollTop - element.clientHeight < 30
  }, [])
  useEffect(() => {
    if (live && atEnd.current && rows.length > 0) virtual.scrollToIndex(rows.length - 1)
  }, [live, rows.length, virtual])

  useImperativeHandle(props.ref, () => ({ focus: () => scroll.current?.focus() }))

  return (
    <div
      className={styles.waterfall}
      ref={measure}
      style={
        { "--names": `${names}px`, "--content": `${HEAD + virtual.getTotalSize()}px` } as React.CSSProperties
      }
    >
      {tree.nodes.length > LONG && (
        <Minimap nodes={tree.nodes} scale={scale} window={window} now={now} onWindow={props.onWindow} />
      )}
      <div className={styles.head} data-stacked={stacked}>
        {!stacked && (
          <span className={styles.names} style={{ width: names }}>
            {rows.length === tree.nodes.length ? "Span" : `${rows.length} of ${tree.nodes.length} spans`}
          </span>
        )}
        <Axis ticks={ticks} window={window} onWindow={props.onWindow} />
      </div>
      <div
        ref={scroll}
        className={styles.scroll}
        role="tree"
        aria-label="Spans"
        tabIndex={0}
        aria-activedescendant={at < 0 ? undefined : rowId(rows[at]?.span.id ?? "")}
        onKeyDown={props.onKeyDown}
        onScroll={onScroll}
      >
        <div className={styles.rows} role="presentation" style={{ height: virtual.getTotalSize() }}>
          <div className={styles.grid} style={{ left: names + (stacked ? 12 : 0) }} aria-hidden="true">
            {ticks.map((tick) => (
              <span
                key={`${tick.at} ${tick.label}`}
                className={styles.gridLine}
                style={{ left: `${tick.at * 100}%` }}
              />
            ))}
          </div>
          {virtual.getVirtualItems().map((item) => {
            const node = rows[item.index]
            if (node === undefined) return null
            return (
              <SpanRow
                key={node.span.id}
                node={node}
                top={item.start}
                height={height}
                stacked={stacked}
                scale={scale}
                window={window}
                now={node.span.end === undefined ? now : 0}
                live={live}
                collapsed={props.collapsed.has(node.span.id) && props.found === undefined}
                selected={node === selected}
                dim={props.found !== undefined && !props.found.has(node)}
                onSelect={props.onSelect}
                onToggle={props.onToggle}
                onHover={props.onHover}
              />
            )
          })}
        </div>
        {rows.length === 0 && <p className={styles.empty}>No span matches</p>}
      </div>
    </div>
  )
}
