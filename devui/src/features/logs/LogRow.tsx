/** One record: time, level, text, and the way to its span. */
import type { LogData } from "@/api/schema"
import { JsonView } from "@/components/JsonView"
import { Source } from "@/components/Source"
import { TraceLink } from "@/components/TraceLink"
import { Button } from "@/components/ui/Button"
import { clock, moment } from "@/lib/format"
import { levelOf, textOfLog } from "@/lib/log"
import styles from "./LogsPage.module.css"

interface LogRowProps {
  log: LogData
  open: boolean
  onTurn: () => void
  onTrace: (traceId: string) => void
}

export function LogRow({ log, open, onTurn, onTrace }: LogRowProps) {
  const level = levelOf(log)
  const text = textOfLog(log)
  const attributes = log.attributes ?? {}
  const file = attributes["code.filepath"]
  const line = attributes["code.lineno"]
  return (
    <div className={styles.record} data-level={level} data-open={open || undefined}>
      <div className={styles.line}>
        <button type="button" className={styles.turn} aria-expanded={open} onClick={onTurn}>
          <time className={styles.time} title={moment(log.timestamp)}>
            {clock(log.timestamp)}
          </time>
          <span className={styles.level}>{log.severityText ?? level.toUpperCase()}</span>
          <span className={styles.text}>{text}</span>
        </button>
        <span className={styles.source}>{log.instrumentationLibrary?.name}</span>
        {log.traceId && (
          <span className={styles.trace}>
            <TraceLink traceId={log.traceId} spanId={log.spanId ?? undefined} />
          </span>
        )}
      </div>
      {open && (
        <div className={styles.details}>
          <pre className={styles.body}>{text}</pre>
          <div className={styles.facts}>
            {typeof file === "string" && (
              <Source file={file} line={typeof line === "number" ? line : undefined} />
            )}
            {log.traceId && (
              <Button size="s" onClick={() => onTrace(log.traceId ?? "")}>
                Only this trace
              </Button>
            )}
          </div>
          <JsonView value={attributes} label="Attributes" expand={1} />
        </div>
      )}
    </div>
  )
}
