/** Everything at its time: one level below the other, spans of the same time in rows of their own. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { type CSSProperties, type MouseEvent, useMemo, useRef } from "react"
import { classes } from "@/lib/classes"
import { duration } from "@/lib/format"
import { kindColor } from "@/lib/kinds"
import { Axis, useTicks } from "./Axis"
import { type Drawn, drawn, lanesOf } from "./model/lanes"
import { tookOf } from "./model/span"
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
/** Narrower bars are strokes of one picture: a trace may have thousands. */
const LEAST_PIXELS = 7

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
              <Bars
                row={rows[item.index] ?? []}
                width={width}
                state={state}
                now={now}
                selected={selected}
                onSelect={onSelect}
              />
            </div>
          ))}
        </div>
      </section>
    </div>
  )
}

interface BarsProps extends Pick<ViewProps, "state" | "now" | "selected" | "onSelect"> {
  row: readonly TraceNode[]
  width: number
}

function Bars({ row, width, state, now, selected, onSelect }: BarsProps) {
  const bars = drawn(row, state.scale, state.window, width, now)
  const isWide = (bar: Drawn) =>
    bar.node === selected || (bar.width * width >= LEAST_PIXELS && bar.count === 1)
  const dim = (bar: Drawn) => state.found !== undefined && !state.found.has(bar.node)
  const narrow = bars.filter((bar) => !isWide(bar))
  const color = (bar: Drawn) => (bar.failed ? "var(--error)" : kindColor(bar.node.span.label))
  const strokes = new Map<string, Drawn[]>()
  for (const bar of narrow) {
    const key = `${color(bar)}${dim(bar) ? " " : ""}`
    const group = strokes.get(key)
    if (group === undefined) strokes.set(key, [bar])
    else group.push(bar)
  }
  const choose = (event: MouseEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    const at = (event.clientX - box.left) / Math.max(box.width, 1)
    const away = (bar: Drawn) => Math.max(bar.left - at, at - bar.left - bar.width, 0)
    const nearest = narrow.reduce<Drawn | undefined>(
      (best, bar) => (best === undefined || away(bar) < away(best) ? bar : best),
      undefined,
    )
    if (nearest !== undefined && away(nearest) * width < LEAST_PIXELS) onSelect(nearest.node)
  }
  return (
    <>
      {narrow.length > 0 && (
        <svg
          className={styles.strokes}
          viewBox={`0 0 ${Math.max(width, 1)} 1`}
          preserveAspectRatio="none"
          aria-hidden="true"
          onClick={choose}
        >
          {[...strokes].map(([key, group]) => (
            <path
              key={key}
              style={{ fill: key.trim(), opacity: key.endsWith(" ") ? 0.3 : 1 }}
              d={group
                .map(
                  ({ left, width: share }) =>
                    `M${left * width} 0h${Math.max(1.5, share * width)}v1H${left * width}z`,
                )
                .join("")}
            />
          ))}
        </svg>
      )}
      {bars.filter(isWide).map((bar) => {
        const { span } = bar.node
        const took = tookOf(span)
        const name = `${span.name} ${took === undefined ? "running" : duration(took)}`
        return (
          <button
            type="button"
            key={span.id}
            tabIndex={-1}
            data-span-id={span.id}
            data-kind={span.label}
            aria-label={`${span.label} ${name}`}
            title={name}
            className={classes(styles.bar, bar.node === selected && styles.selected, dim(bar) && styles.dim)}
            style={
              {
                left: `${bar.left * 100}%`,
                width: `max(2px, ${bar.width * 100}%)`,
                "--kind": color(bar),
              } as CSSProperties
            }
            onClick={() => onSelect(bar.node)}
            onPointerEnter={() => state.setHovered(bar.node)}
            onPointerLeave={() => state.setHovered(undefined)}
          >
            {bar.width * width > 4 * PIXELS_PER_LETTER && <span>{name}</span>}
          </button>
        )
      })}
    </>
  )
}
