/** The whole trace in small, above a long waterfall. Drawing a range zooms in on it. */
import { memo, useMemo } from "react"
import { kindColor } from "@/lib/kinds"
import { ROWS, strokesOf } from "./model/minimap"
import { type Scale, WHOLE, type Window } from "./model/time"
import type { TraceNode } from "./model/tree"
import { useDragRange } from "./useDragRange"
import styles from "./Waterfall.module.css"

interface MinimapProps {
  nodes: readonly TraceNode[]
  scale: Scale
  window: Window
  now: number
  onWindow: (window: Window) => void
}

export function Minimap({ nodes, scale, window, now, onWindow }: MinimapProps) {
  const drag = useDragRange(onWindow)
  const shown = drag.range ?? window
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: zooming is also in the toolbar
    <div
      className={styles.minimap}
      data-minimap
      {...drag.handlers}
      onDoubleClick={() => onWindow(WHOLE)}
      title="Drag to zoom in, double click to see everything"
    >
      <Strokes nodes={nodes} scale={scale} now={now} />
      <span className={styles.shade} style={{ left: 0, width: `${shown.from * 100}%` }} />
      <span className={styles.shade} style={{ left: `${shown.to * 100}%`, right: 0 }} />
      {drag.range !== undefined && (
        <span
          className={styles.range}
          style={{ left: `${shown.from * 100}%`, width: `${(shown.to - shown.from) * 100}%` }}
        />
      )}
    </div>
  )
}

const Strokes = memo(function Strokes({ nodes, scale, now }: Pick<MinimapProps, "nodes" | "scale" | "now">) {
  const strokes = useMemo(() => strokesOf(nodes, scale, now), [nodes, scale, now])
  return (
    <svg viewBox={`0 0 1 ${ROWS}`} preserveAspectRatio="none" aria-hidden="true">
      {strokes.map(({ row, left, width, label, failed }) => (
        <rect
          key={`${row} ${left} ${width}`}
          x={left}
          y={row + 0.15}
          width={width}
          height={0.7}
          style={{ fill: failed ? "var(--error)" : kindColor(label) }}
        />
      ))}
    </svg>
  )
})
