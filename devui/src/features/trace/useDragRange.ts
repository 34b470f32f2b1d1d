/**
 * Drawing a range on a lane with the pointer.
 *
 *     const drag = useDragRange((from, to) => zoom(from, to))
 *     <div {...drag.handlers}>{drag.range && …}</div>
 */
import { type PointerEvent, useState } from "react"

/** Shares of the lane. */
interface Range {
  from: number
  to: number
}

const LEAST_PIXELS = 4

export function useDragRange(onRange: (range: Range) => void) {
  const [drag, setDrag] = useState<{ begun: number; at: number } | undefined>()
  const place = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.min(1, Math.max(0, (event.clientX - box.left) / Math.max(box.width, 1)))
  }
  const range = drag && { from: Math.min(drag.begun, drag.at), to: Math.max(drag.begun, drag.at) }
  return {
    range,
    handlers: {
      onPointerDown(event: PointerEvent<HTMLElement>) {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        setDrag({ begun: place(event), at: place(event) })
      },
      onPointerMove(event: PointerEvent<HTMLElement>) {
        if (drag !== undefined) setDrag({ ...drag, at: place(event) })
      },
      onPointerUp(event: PointerEvent<HTMLElement>) {
        setDrag(undefined)
        const width = event.currentTarget.getBoundingClientRect().width
        if (range !== undefined && (range.to - range.from) * width >= LEAST_PIXELS) onRange(range)
      },
      onPointerCancel() {
        setDrag(undefined)
      },
    },
  }
}
