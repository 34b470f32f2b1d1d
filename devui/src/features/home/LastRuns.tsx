/** The last ten runs, newest first. */
import { Link } from "@tanstack/react-router"
import { Activity } from "lucide-react"
import { Duration } from "@/components/Duration"
import { KindIcon } from "@/components/KindIcon"
import { StatusIcon } from "@/components/StatusTag"
import { TimeAgo } from "@/components/TimeAgo"
import { LinkButton } from "@/components/ui/Button"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { Skeleton } from "@/components/ui/Skeleton"
import table from "@/components/ui/table.module.css"
import styles from "./HomePage.module.css"
import { useRecent } from "./useRecent"

export function LastRuns() {
  const { data, error, refetch } = useRecent({ limit: 10 })
  if (data === undefined)
    return error === null ? <Skeleton lines={6} /> : <Failure error={error} onRetry={() => void refetch()} />
  if (data.traces.length === 0)
    return (
      <Empty
        icon={<Activity aria-hidden />}
        title="Nothing has run yet"
        text="Run an action, here or from a shell; each run is kept with every step."
        command="flowkit flow:run <name> '<input>'"
        action={
          <LinkButton to="/actions" search={{}} variant="primary">
            Choose an action
          </LinkButton>
        }
      />
    )
  return (
    <table className={table.table}>
      <thead className={styles.head}>
        <tr>
          <th aria-label="Status" />
          <th>Action</th>
          <th>Input</th>
          <th className={table.num}>Time</th>
          <th className={table.num}>Started</th>
        </tr>
      </thead>
      <tbody>
        {data.traces.map((trace) => (
          <tr key={trace.traceId} className={table.row} data-trace-id={trace.traceId}>
            <td className={styles.sign}>
              <StatusIcon status={trace.status} />
            </td>
            <td>
              <span className={styles.name}>
                <KindIcon kind={trace.kind} labelled />
                <Link to="/traces/$id" params={{ id: trace.traceId }} search={{}}>
                  {trace.name}
                </Link>
              </span>
            </td>
            <td className={styles.value}>{trace.input}</td>
            <td className={table.num}>
              <Duration ms={trace.durationMs} />
            </td>
            <td className={table.num}>
              <TimeAgo ms={trace.startTimeMs} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
