/** Beside the output: the trace of the run as it grows, and the earlier runs of this action. */
import { lazy, Suspense, useState } from "react"
import type { RunHead } from "@/api/follow"
import type { ActionData } from "@/api/schema"
import { Empty } from "@/components/ui/Empty"
import { Skeleton } from "@/components/ui/Skeleton"
import { TabPanel, Tabs } from "@/components/ui/Tabs"
import { History } from "./History"
import styles from "./runner.module.css"

const TraceView = lazy(() => import("../trace/TraceView").then((found) => ({ default: found.TraceView })))

interface SidePanelProps {
  action: ActionData
  run: RunHead
  /** Look at an earlier run. */
  onShow: (traceId: string) => void
  /** Take its input. */
  onUse: (traceId: string) => void
}

export function SidePanel({ action, run, onShow, onUse }: SidePanelProps) {
  const [chosen, setChosen] = useState<string>()
  const traceId = run.run?.traceId ?? undefined
  // Until something runs, what ran before is more telling than an empty trace.
  const tab = chosen ?? (run.status === undefined ? "history" : "trace")
  const running = run.status === "running" || run.status === "starting"
  return (
    <section className={styles.panel} aria-label="Trace and history">
      <Tabs
        label="Trace and history"
        value={tab}
        onChange={setChosen}
        items={[
          { value: "trace", label: "Trace" },
          { value: "history", label: "History" },
        ]}
      >
        <TabPanel value="trace">
          <div className={styles.trace}>
            {traceId === undefined ? (
              running ? (
                <Skeleton lines={6} />
              ) : (
                <Empty title="No trace yet" text="Each step of a run appears here as it starts." />
              )
            ) : (
              <Suspense fallback={<Skeleton lines={6} />}>
                <TraceView traceId={traceId} live={running} compact />
              </Suspense>
            )}
          </div>
        </TabPanel>
        <TabPanel value="history">
          <History
            action={action}
            current={traceId}
            onShow={(id) => {
              onShow(id)
              setChosen("trace")
            }}
            onUse={onUse}
          />
        </TabPanel>
      </Tabs>
    </section>
  )
}
