/** What was logged within a span, and the events it recorded. */
import { useQuery } from "@tanstack/react-query"
import { api, ask } from "@/api/client"
import { keys } from "@/api/queries"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { Skeleton } from "@/components/ui/Skeleton"
import { clock } from "@/lib/format"
import { levelOf, textOfLog } from "@/lib/log"
import type { Span } from "../model/span"
import styles from "./details.module.css"

export const spanLogsQuery = (traceId: string, spanId: string) => ({
  queryKey: [...keys.logs, traceId, spanId],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    ask(
      api.GET("/api/traces/{trace_id}/spans/{span_id}/logs", {
        params: { path: { trace_id: traceId, span_id: spanId }, query: { limit: 200 } },
        signal,
      }),
    ),
})

export function SpanLogs({ traceId, span }: { traceId: string; span: Span }) {
  const query = useQuery(spanLogsQuery(traceId, span.id))
  if (query.isError) return <Failure error={query.error} onRetry={query.refetch} />
  if (query.isPending) return <Skeleton lines={4} />
  const records = query.data.logs.map((log) => ({
    id: log.logId,
    time: log.timestamp,
    level: levelOf(log),
    text: textOfLog(log),
  }))
  const events = span.events.map((event, at) => ({
    id: `event ${at}`,
    time: event.timeMs,
    level: "event",
    text: `${event.name} ${Object.keys(event.attributes).length > 0 ? JSON.stringify(event.attributes) : ""}`,
  }))
  const lines = [...records, ...events].sort((a, b) => a.time - b.time)
  if (lines.length === 0) {
    return (
      <Empty
        title="Nothing was logged here"
        text={
          <>
            Records of Python's <code>logging</code> within a step appear here.
          </>
        }
      />
    )
  }
  return (
    <ol className={styles.logs} aria-label="Log records">
      {lines.map((line) => (
        <li key={line.id} data-level={line.level}>
          <time>{clock(line.time)}</time>
          <span className={styles.level}>{line.level}</span>
          <span className={styles.logText}>{line.text}</span>
        </li>
      ))}
    </ol>
  )
}
