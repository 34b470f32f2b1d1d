/** The app, its process, and what happens when its files change. */
import { useQuery } from "@tanstack/react-query"
import { useLive } from "@/api/live"
import { statusQuery } from "@/api/status"
import { StatusIcon } from "@/components/StatusTag"
import { TimeAgo } from "@/components/TimeAgo"
import { Badge, type Tone } from "@/components/ui/Badge"
import { plural } from "@/lib/format"
import styles from "./HomePage.module.css"

const TONES: Record<string, Tone> = { running: "ok", failed: "error", ended: "warn", starting: "accent" }

export function StatusStrip() {
  const { app, runtimes, runs } = useLive()
  const { data: status } = useQuery(statusQuery)
  const running = runs.filter((run) => run.status === "running").length
  return (
    <dl className={styles.strip} aria-label="Status">
      <div>
        <dt>App</dt>
        <dd>
          {status?.app ?? runtimes[0]?.name ?? "—"}
          {app !== undefined && <Badge tone={TONES[app.state] ?? "neutral"}>{app.state}</Badge>}
        </dd>
      </div>
      <div>
        <dt>Process</dt>
        <dd>{app?.pid ?? "—"}</dd>
      </div>
      <div>
        <dt>Python</dt>
        <dd>{status?.python ?? "—"}</dd>
      </div>
      <div>
        <dt>flowkit</dt>
        <dd>{status?.version ?? "—"}</dd>
      </div>
      <div>
        <dt>Started</dt>
        <dd>{app?.startedAt ? <TimeAgo ms={app.startedAt} /> : "—"}</dd>
      </div>
      <div>
        <dt>Reload</dt>
        <dd>
          {app === undefined
            ? "—"
            : app.restarts === 0
              ? "When a file changes"
              : `${plural(app.restarts, "time")}${app.changed?.[0] ? `, last for ${app.changed[0]}` : ""}`}
        </dd>
      </div>
      {running > 0 && (
        <div>
          <dt>Running</dt>
          <dd>
            <StatusIcon status="running" />
            {plural(running, "run")}
          </dd>
        </div>
      )}
    </dl>
  )
}
