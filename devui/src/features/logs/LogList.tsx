/** The records, of which only those in sight are in the page. A record opens to all that is known about it. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useRef, useState } from "react"
import type { LogData } from "@/api/schema"
import { LogRow } from "./LogRow"
import styles from "./LogsPage.module.css"

interface LogListProps {
  logs: readonly LogData[]
  /** Whether the newest is in sight. */
  onTop: (atTop: boolean) => void
  onTrace: (traceId: string) => void
  /** Ask for older ones; undefined when there are none, or they are on their way. */
  more: (() => void) | undefined
}

const NEAR_END = 20

export function LogList({ logs, onTop, onTrace, more }: LogListProps) {
  const box = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState<string>()
  const virtual = useVirtualizer({
    count: logs.length,
    getScrollElement: () => box.current,
    estimateSize: () => 26,
    overscan: 16,
    getItemKey: (at) => logs[at]?.logId ?? at,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (more !== undefined && last >= logs.length - NEAR_END) more()
  }, [more, last, logs.length])

  return (
    // biome-ignore lint/a11y/useSemanticElements: rows that are out of sight are not in the page, as a <ul> would have them
    <div
      ref={box}
      className={styles.list}
      role="list"
      aria-label="Log records"
      onScroll={(event) => onTop(event.currentTarget.scrollTop < 8)}
    >
      <div className={styles.all} role="presentation" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const log = logs[item.index]
          if (log === undefined) return null
          return (
            // biome-ignore lint/a11y/useSemanticElements: see above
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              className={styles.placed}
              role="listitem"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <LogRow
                log={log}
                open={open === log.logId}
                onTurn={() => setOpen(open === log.logId ? undefined : log.logId)}
                onTrace={onTrace}
              />
            </div>
          )
        })}
      </div>
    </div>
  )
}
