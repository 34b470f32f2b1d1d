/**
 * A JSON value as a tree that opens and closes. Only what is seen is in the page.
 *
 *     <JsonView value={span.output} expand={2} maxHeight={480} />
 */
import { useVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, useMemo, useRef, useState } from "react"
import { type JsonRow, jsonRows } from "@/lib/jsonTree"
import { JsonLine } from "./JsonLine"
import styles from "./JsonView.module.css"

interface JsonViewProps {
  value: unknown
  name?: string | undefined
  /** How many levels are open at first. */
  expand?: number | undefined
  /** Px. A long tree has one in any case, as it is scrolled. */
  maxHeight?: number | undefined
  label?: string | undefined
}

/** From this many rows on, only those that are seen are in the page. */
const MANY = 150

export function JsonView({ value, name, expand = 2, maxHeight, label = "JSON" }: JsonViewProps) {
  const [turned, setTurned] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [active, setActive] = useState("")
  const rows = useMemo(() => jsonRows(value, { expand, turned }, name), [value, expand, turned, name])
  const box = useRef<HTMLDivElement>(null)
  const many = rows.length > MANY
  const virtual = useVirtualizer({
    count: rows.length,
    enabled: many,
    getScrollElement: () => box.current,
    estimateSize: () => 20,
    overscan: 12,
    getItemKey: (at) => rows[at]?.pointer ?? at,
  })

  const turn = (row: JsonRow, open: boolean) => setTurned((now) => new Map(now).set(row.pointer, open))
  const go = (at: number) => {
    const row = rows[Math.max(0, Math.min(at, rows.length - 1))]
    if (row === undefined) return
    setActive(row.pointer)
    if (many) virtual.scrollToIndex(rows.indexOf(row))
    requestAnimationFrame(() => {
      box.current?.querySelector<HTMLElement>(`[data-pointer="${CSS.escape(row.pointer)}"]`)?.focus()
    })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target as HTMLElement).matches('[role="treeitem"]')) return
    const at = rows.findIndex((row) => row.pointer === active)
    const row = rows[at]
    if (row === undefined) return
    if (event.ctrlKey || event.metaKey || event.altKey) return
    switch (event.key) {
      case "ArrowDown":
        go(at + 1)
        break
      case "ArrowUp":
        go(at - 1)
        break
      case "Home":
        go(0)
        break
      case "End":
        go(rows.length - 1)
        break
      case "ArrowRight":
        if (row.size !== undefined && !row.open) turn(row, true)
        else go(at + 1)
        break
      case "ArrowLeft":
        if (row.open) turn(row, false)
        else go(rows.findLastIndex((up, place) => place < at && up.depth < row.depth))
        break
      case "Enter":
        if (row.size !== undefined) turn(row, !row.open)
        break
      default:
        return
    }
    event.preventDefault()
    event.stopPropagation()
  }
  const first = rows.some((row) => row.pointer === active) ? active : ""
  const line = (row: JsonRow) => (
    <JsonLine
      row={row}
      tabIndex={row.pointer === first ? 0 : -1}
      onTurn={() => turn(row, !row.open)}
      onFocus={() => setActive(row.pointer)}
    />
  )

  return (
    <div
      ref={box}
      className={styles.view}
      role="tree"
      aria-label={label}
      onKeyDown={onKeyDown}
      style={{ maxHeight: many ? (maxHeight ?? 480) : maxHeight }}
    >
      {many ? (
        <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index]
            if (row === undefined) return null
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className={styles.placed}
                style={{ transform: `translateY(${item.start}px)` }}
                role="presentation"
              >
                {line(row)}
              </div>
            )
          })}
        </div>
      ) : (
        rows.map((row) => (
          <div key={row.pointer} role="presentation">
            {line(row)}
          </div>
        ))
      )}
    </div>
  )
}
