/** Everything at its time: one level below the other, spans of the same time in rows of their own. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { useMemo, useRef } from "react"
import { classes } from "@/lib/classes"
import { duration } from "@/lib/format"
import { kindColor } from "@/lib/kinds"
import { Axis, useTicks } from "./Axis"
import { drawn, lanesOf } from "./model/lanes"
import type { TraceNode, Tree } from "./model/tree"
import styles from "./TimelineView.module.css"
import { useRowHeight, useSize } from "./useSize"
import type { useTraceView } from "./useTraceView"

export interface ViewProps {
  tree: Tree
  state: ReturnType<typeof useTraceView>
  selected: TraceNode | undefined
  now: number
  live: boolean
  onSelect: (node: TraceNode) => void
}

const PIXELS_PER_LETTER = 7

export default function TimelineView({ tree, state, selected, now, onSelect }: ViewProps) {
  const scroll = useRef<HTMLElement>(null)
  const [measure, { width }] = useSize<HTMLDivElement>()
  const height = useRowHeight()
  const rows = useMemo(() => lanesOf(tree, now), [tree, now])
  const ticks = useTicks(state.scale, state.window, width)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => height,
    overscan: 4,
  })
  return (
    <div className={styles.timeline} ref={measure}>
      <div className={styles.head}>
        <Axis ticks={ticks} window={state.window} onWindow={state.setWindow} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is scrolled can be reached by keys */}
      <section ref={scroll} className={styles.scroll} aria-label="Spans by time" tabIndex={0}>
        <div className={styles.rows} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => (
            <div
              key={item.key}
              className={styles.row}
              style={{ height, transform: `translateY(${item.start}px)` }}
            >
              {drawn(rows[item.index] ?? [], state.scale, state.window, width, now).map((bar) => {
                const { span } = bar.node
                const room = bar.width * width
                const took = span.end === undefined ? "running" : duration(span.end - span.start)
                const name = bar.count > 1 ? `${bar.count} spans` : `${span.name} ${took}`
                return (
                  <button
                    type="button"
                    key={span.id}
                    tabIndex={-1}
                    data-span-id={span.id}
                    data-kind={span.label}
                    aria-label={`${span.label} ${name}`}
                    title={name}
                    className={classes(
                      styles.bar,
                      bar.node === selected && styles.selected,
                      state.found !== undefined && !state.found.has(bar.node) && styles.dim,
                    )}
                    style={
                      {
                        left: `${bar.left * 100}%`,
                        width: `max(2px, ${bar.width * 100}%)`,
                        "--kind": bar.failed ? "var(--error)" : kindColor(span.label),
                      } as React.CSSProperties
                    }
                    onClick={() => onSelect(bar.node)}
                    onPointerEnter={() => state.setHovered(bar.node)}
                    onPointerLeave={() => state.setHovered(undefined)}
                  >
                    {room > 4 * PIXELS_PER_LETTER && <span>{name}</span>}
                  </button>
                )
              })}
            </div>
          ))}
        </div>
      </section>
    </div>
  )
}
