/** The app's name and a dot that says whether it answers. */
import { useLive } from "@/api/live"
import { TimeAgo } from "@/components/TimeAgo"
import { Popover } from "@/components/ui/Popover"
import { duration } from "@/lib/format"
import { standing } from "./connection"
import styles from "./TopBar.module.css"

export function Connection() {
  const live = useLive()
  const { status, text } = standing(live)
  const [runtime] = live.runtimes
  const { app } = live
  return (
    <Popover
      label="The app"
      trigger={
        <button
          type="button"
          className={styles.connection}
          aria-label={`${text}: ${runtime?.name ?? "no app"}`}
        >
          <span className={styles.dot} data-status={status} aria-hidden="true" />
          {runtime !== undefined && <span className={styles.app}>{runtime.name}</span>}
          {status !== "connected" && <span>{text}</span>}
        </button>
      }
    >
      <dl className={styles.facts}>
        <dt>Connection</dt>
        <dd>{text}</dd>
        {runtime !== undefined && (
          <>
            <dt>App</dt>
            <dd>{runtime.name}</dd>
            <dt>Process</dt>
            <dd>{runtime.pid}</dd>
            <dt>Version</dt>
            <dd>{runtime.version ?? "—"}</dd>
          </>
        )}
        {app?.startedAt ? (
          <>
            <dt>Started</dt>
            <dd>
              <TimeAgo ms={app.startedAt} />
              {app.readySeconds ? `, ready after ${duration(app.readySeconds * 1000)}` : ""}
            </dd>
          </>
        ) : null}
        {app !== undefined && (
          <>
            <dt>Reloads</dt>
            <dd>{app.restarts}</dd>
          </>
        )}
        {live.runtimes.length > 1 && (
          <>
            <dt>Also running</dt>
            <dd>
              {live.runtimes
                .slice(1)
                .map((one) => one.name)
                .join(", ")}
            </dd>
          </>
        )}
      </dl>
    </Popover>
  )
}
