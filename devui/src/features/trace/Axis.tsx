/** The times above the lane. Drawing a range on it zooms in; a double click shows everything again. */
import { useMemo } from "react"
import { classes } from "@/lib/classes"
import { type Scale, type Tick, ticks, WHOLE, type Window } from "./model/time"
import { useDragRange } from "./useDragRange"
import styles from "./Waterfall.module.css"

const PIXELS_PER_TICK = 90

export function useTicks(scale: Scale, window: Window, width: number): readonly Tick[] {
  return useMemo(() => ticks(scale, window, Math.max(2, width / PIXELS_PER_TICK)), [scale, window, width])
}

interface AxisProps {
  ticks: readonly Tick[]
  window: Window
  onWindow: (window: Window) => void
}

export function Axis({ ticks: shown, window, onWindow }: AxisProps) {
  const drag = useDragRange(({ from, to }) => {
    const size = window.to - window.from
    onWindow({ from: window.from + from * size, to: window.from + to * size })
  })
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: zooming is also in the toolbar
    <div
      className={styles.axis}
      {...drag.handlers}
      onDoubleClick={() => onWindow(WHOLE)}
      title="Drag to zoom in"
    >
      {shown.map((tick) => (
        <span
          key={`${tick.at} ${tick.label}`}
          className={classes(styles.tick, tick.gap && styles.gapTick, tick.at > 0.94 && styles.tickLast)}
          style={{ left: `${tick.at * 100}%` }}
        >
          {tick.label}
        </span>
      ))}
      {drag.range !== undefined && (
        <span
          className={styles.range}
          style={{ left: `${drag.range.from * 100}%`, width: `${(drag.range.to - drag.range.from) * 100}%` }}
        />
      )}
    </div>
  )
}
