/**
 * Two parts with a border that can be moved, by pointer and by arrow keys. The size of the second is remembered by `id`.
 * Below 700 px they are one above the other.
 */
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from "react"
import styles from "./SplitPane.module.css"

interface SplitPaneProps {
  id: string
  direction?: "row" | "column" | undefined
  first: ReactNode
  second: ReactNode
  /** Px of the second part. */
  defaultSize?: number | undefined
  /** Px that each part keeps at least. */
  min?: number | undefined
  /** Of the border, for those who do not see it. */
  label?: string | undefined
}

const STEP = 24

export function SplitPane({
  id,
  direction = "row",
  first,
  second,
  defaultSize = 380,
  min = 200,
  label = "Size of the panel",
}: SplitPaneProps) {
  const key = `flowkit.split.${id}`
  const [size, setSize] = useState(() => Number(localStorage.getItem(key)) || defaultSize)
  const box = useRef<HTMLDivElement>(null)
  const dragged = useRef<{ at: number; size: number } | undefined>(undefined)

  const room = () => {
    const rect = box.current?.getBoundingClientRect()
    return rect === undefined ? 1000 : direction === "row" ? rect.width : rect.height
  }
  const resize = (wanted: number) => {
    const now = Math.round(Math.max(min, Math.min(wanted, room() - min)))
    setSize(now)
    localStorage.setItem(key, String(now))
  }
  const place = (event: PointerEvent) => (direction === "row" ? event.clientX : event.clientY)
  const onKeyDown = (event: KeyboardEvent) => {
    const [more, less] = direction === "row" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"]
    if (event.key === more) resize(size + STEP)
    else if (event.key === less) resize(size - STEP)
    else if (event.key === "Home") resize(room())
    else if (event.key === "End") resize(0)
    else return
    event.preventDefault()
  }

  return (
    <div
      ref={box}
      className={styles.split}
      data-direction={direction}
      style={{ "--second": `${size}px`, "--min": `${min}px` } as never}
    >
      <div className={styles.first}>{first}</div>
      {/* biome-ignore lint/a11y/useSemanticElements: a border that is moved is no <hr> */}
      <div
        className={styles.border}
        role="separator"
        tabIndex={0}
        aria-label={label}
        aria-orientation={direction === "row" ? "vertical" : "horizontal"}
        aria-valuenow={size}
        aria-valuemin={min}
        aria-valuemax={2000}
        onKeyDown={onKeyDown}
        onDoubleClick={() => resize(defaultSize)}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          dragged.current = { at: place(event), size }
        }}
        onPointerMove={(event) => {
          if (dragged.current !== undefined) resize(dragged.current.size + dragged.current.at - place(event))
        }}
        onPointerUp={() => {
          dragged.current = undefined
        }}
      />
      <div className={styles.second}>{second}</div>
    </div>
  )
}
