/** How the run stands: its status and time, the way to its trace, and to stop or repeat it. */
import { RotateCw, Square } from "lucide-react"
import type { RunHead } from "@/api/follow"
import { StatusTag } from "@/components/StatusTag"
import { TraceLink } from "@/components/TraceLink"
import { Button } from "@/components/ui/Button"
import { useNow } from "@/components/useNow"
import { duration } from "@/lib/format"
import styles from "./runner.module.css"

interface RunHeaderProps {
  run: RunHead
  onCancel: () => void
  onRetry: () => void
}

export function RunHeader({ run, onCancel, onRetry }: RunHeaderProps) {
  const { status, run: info } = run
  const running = status === "running" || status === "starting"
  return (
    <div className={styles.run} data-status={status === "starting" ? "running" : status} data-part="run">
      <h2 className={styles.heading}>Output</h2>
      {status !== undefined && (
        <>
          <span role="status" className={styles.status}>
            <StatusTag status={status === "starting" ? "running" : status} />
          </span>
          {info !== undefined && (
            <span className={styles.time}>
              {running ? <Ticking since={info.startTimeMs} /> : duration(info.durationMs)}
            </span>
          )}
          {info?.traceId && (
            <span className={styles.quiet}>
              <TraceLink traceId={info.traceId} />
            </span>
          )}
          {running && info?.runId !== "" && (
            <Button
              size="s"
              variant="ghost"
              icon={<Square aria-hidden />}
              onClick={onCancel}
              aria-label="Cancel the run"
            >
              Cancel
            </Button>
          )}
          {(status === "error" || status === "cancelled" || status === "lost") && (
            <Button size="s" variant="ghost" icon={<RotateCw aria-hidden />} onClick={onRetry}>
              Retry
            </Button>
          )}
        </>
      )}
      <span className={styles.grow} />
    </div>
  )
}

function Ticking({ since }: { since: number }) {
  const now = useNow(100)
  return <span aria-hidden>{duration(Math.max(0, now - since))}</span>
}
