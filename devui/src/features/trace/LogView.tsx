/** A trace as one log: starts, ends, events and log records in order of time. */
import { useQuery } from "@tanstack/react-query"
import { useVirtualizer } from "@tanstack/react-virtual"
import { useMemo, useRef } from "react"
import { api, ask } from "@/api/client"
import { useEvents } from "@/api/live"
import { keys } from "@/api/queries"
import { KindIcon } from "@/components/KindIcon"
import { Failure } from "@/components/ui/Failure"
import { useSoon } from "@/components/useSoon"
import { classes } from "@/lib/classes"
import { duration } from "@/lib/format"
import styles from "./LogView.module.css"
import { entriesOf } from "./model/entries"
import type { ViewProps } from "./TimelineView"

const ROW = 28
const MOST = 1000
/** A span may log hundreds of records a second. */
const SOON_MS = 250

export default function LogView({
  traceId,
  tree,
  state,
  selected,
  onSelect,
}: ViewProps & { traceId: string }) {
  const scroll = useRef<HTMLElement>(null)
  const logs = useQuery({
    queryKey: [...keys.logs, traceId, "all"],
    queryFn: ({ signal }) =>
      ask(
        api.GET("/api/traces/{trace_id}/logs", {
          params: { path: { trace_id: traceId }, query: { limit: MOST } },
          signal,
        }),
      ),
  })
  const soon = useSoon(() => void logs.refetch(), SOON_MS)
  useEvents("log", ({ log }) => {
    if (log?.traceId === traceId) soon()
  })
  const entries = useMemo(
    () => entriesOf(tree, logs.data?.logs ?? [], state.found),
    [tree, logs.data, state.found],
  )
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW,
    overscan: 12,
  })
  return (
    <div className={styles.log}>
      {logs.isError && <Failure error={logs.error} onRetry={logs.refetch} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is scrolled can be reached by keys */}
      <section ref={scroll} className={styles.scroll} aria-label="Log of the trace" tabIndex={0}>
        <div className={styles.rows} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const entry = entries[item.index]
            if (entry === undefined) return null
            const { node } = entry
            return (
              <button
                type="button"
                tabIndex={-1}
                key={entry.id}
                data-level={entry.level}
                className={classes(styles.row, node !== undefined && node === selected && styles.selected)}
                style={{ transform: `translateY(${item.start}px)` }}
                disabled={node === undefined}
                onClick={() => node !== undefined && onSelect(node)}
              >
                <span className={styles.time}>+{duration(Math.max(0, entry.time - tree.start))}</span>
                <span className={styles.level}>{entry.level}</span>
                <span className={styles.name}>
                  <KindIcon kind={node?.span.label} size={13} />
                  {node?.span.name ?? ""}
                </span>
                <span className={styles.text} title={entry.text}>
                  {entry.text}
                </span>
              </button>
            )
          })}
        </div>
      </section>
    </div>
  )
}
