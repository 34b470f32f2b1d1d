/** What comes out: the stream while it runs, then the result, or why there is none. */
import { Play } from "lucide-react"
import { type Ref, useMemo, useState } from "react"
import type { Follower, RunHead } from "@/api/follow"
import type { ActionData } from "@/api/schema"
import { useChunks } from "@/api/useRun"
import { JsonView } from "@/components/JsonView"
import { CopyButton } from "@/components/ui/CopyButton"
import { Empty } from "@/components/ui/Empty"
import { Kbd } from "@/components/ui/Kbd"
import { Segmented } from "@/components/ui/Segmented"
import { StaleNote } from "@/components/ui/StaleNote"
import { jsonText } from "@/lib/json"
import { Large } from "./Large"
import { LARGE, sizeOf } from "./output"
import { Rendered } from "./Rendered"
import { RunError } from "./RunError"
import { RunHeader } from "./RunHeader"
import styles from "./runner.module.css"
import { StreamedOutput } from "./StreamedOutput"
import { StreamView } from "./StreamView"

type View = "rendered" | "json" | "stream"

interface OutputPanelProps {
  ref: Ref<HTMLElement>
  action: ActionData
  run: RunHead
  follower: Follower
  onCancel: () => void
  onRetry: () => void
}

export function OutputPanel({ ref, action, run, follower, onCancel, onRetry }: OutputPanelProps) {
  const [view, setView] = useState<View>("rendered")
  const { status, streams, result } = run
  const running = status === "running" || status === "starting"
  const ended = status === "success"
  const size = useMemo(() => (ended ? sizeOf(result) : 0), [ended, result])
  const items: { value: View; label: string }[] = [
    { value: "rendered", label: "Rendered" },
    { value: "json", label: "JSON" },
    ...(streams ? [{ value: "stream" as const, label: "Stream" }] : []),
  ]
  const shown = items.some(({ value }) => value === view) ? view : "rendered"

  return (
    <section ref={ref} className={styles.panel} aria-label="Output">
      <div className={styles.bar}>
        <RunHeader run={run} onCancel={onCancel} onRetry={onRetry} />
        {(ended || streams) && (
          <>
            <Segmented label="View of the output" value={shown} items={items} onChange={setView} />
            {ended && <CopyButton label="Copy output" text={() => jsonText(result)} />}
          </>
        )}
      </div>
      {run.dropped && <StaleNote text="The first chunks are no longer kept." />}
      {status === undefined ? (
        <Empty
          icon={<Play aria-hidden />}
          title="Nothing has run yet"
          text={
            <>
              Run it with <Kbd keys="Mod+Enter" />
            </>
          }
          command={action.kind === "flow" ? `flowkit flow:run ${action.name}` : undefined}
        />
      ) : shown === "stream" ? (
        <Stream follower={follower} view="stream" running={running} />
      ) : running || (!ended && streams) ? (
        <>
          {run.error !== undefined && <RunError run={run} onRetry={onRetry} />}
          <Stream follower={follower} view={shown} running={running} />
        </>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard
        <section className={styles.scroll} data-part="result" aria-label="Result" tabIndex={0}>
          {run.error !== undefined && <RunError run={run} onRetry={onRetry} />}
          {status === "cancelled" && (
            <Empty title="Cancelled" text="What it did until then is in its trace." />
          )}
          {ended &&
            (size > LARGE ? (
              <Large value={result} size={size} name={action.name} json={shown === "json"} />
            ) : shown === "json" ? (
              <JsonView value={result === undefined ? null : result} expand={3} label="Output" />
            ) : (
              <Rendered value={result} />
            ))}
        </section>
      )}
    </section>
  )
}

/** All that is drawn again with each frame of a stream. */
function Stream({ follower, view, running }: { follower: Follower; view: View; running: boolean }) {
  const chunks = useChunks(follower)
  if (view === "stream") return <StreamView chunks={chunks} />
  return <StreamedOutput chunks={chunks} running={running} json={view === "json"} />
}
