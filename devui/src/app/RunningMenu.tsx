/** How many runs of this server are running, and the way to stop each. Nothing when there is none. */
import { Link } from "@tanstack/react-router"
import { Square } from "lucide-react"
import { useLive } from "@/api/live"
import { cancelRun } from "@/api/runs"
import type { RunInfo } from "@/api/schema"
import { KindIcon } from "@/components/KindIcon"
import { StatusIcon } from "@/components/StatusTag"
import { Button, IconButton } from "@/components/ui/Button"
import { Popover } from "@/components/ui/Popover"
import { failed } from "@/components/ui/toast"
import { useNow } from "@/components/useNow"
import { duration } from "@/lib/format"
import { splitKey } from "@/lib/paths"
import styles from "./TopBar.module.css"

export function RunningMenu() {
  const { runs } = useLive()
  const running = runs.filter((run) => run.status === "running")
  if (running.length === 0) return null
  return (
    <Popover
      label="Running"
      trigger={
        <Button size="s" icon={<StatusIcon status="running" />} aria-label={`${running.length} running`}>
          {running.length}
        </Button>
      }
    >
      <ul className={styles.runs}>
        {running.map((run) => (
          <Row key={run.runId} run={run} />
        ))}
      </ul>
    </Popover>
  )
}

function Row({ run }: { run: RunInfo }) {
  const now = useNow(1000)
  const { kind, name } = splitKey(run.key)
  return (
    <li className={styles.run}>
      <KindIcon kind={kind} />
      {run.traceId ? (
        <Link to="/traces/$id" params={{ id: run.traceId }} search={{}}>
          {name}
        </Link>
      ) : (
        <Link to="/run/$kind/$" params={{ kind, _splat: name }} search={{}}>
          {name}
        </Link>
      )}
      <span className={styles.age}>{duration(Math.max(0, now - run.startTimeMs))}</span>
      <IconButton
        label={`Cancel ${name}`}
        size="s"
        icon={<Square aria-hidden />}
        onClick={() => cancel(run)}
      />
    </li>
  )
}

export function cancel(run: RunInfo): void {
  cancelRun(run.runId).catch(failed("It could not be cancelled"))
}
