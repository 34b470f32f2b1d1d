/** What the app has written to its log, as it writes it. Each record leads to the span in which it was written. */
import { useNavigate, useSearch } from "@tanstack/react-router"
import { ScrollText, X } from "lucide-react"
import { useDeferredValue, useState } from "react"
import { Button } from "@/components/ui/Button"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { PageHeader } from "@/components/ui/PageHeader"
import { SearchField } from "@/components/ui/SearchField"
import { Select } from "@/components/ui/Select"
import { Skeleton } from "@/components/ui/Skeleton"
import { Switch } from "@/components/ui/Switch"
import { LogList } from "./LogList"
import styles from "./LogsPage.module.css"
import { LEVELS } from "./levels"
import { useLogs } from "./useLogs"

const ALL = "all"

export function LogsPage() {
  const search = useSearch({ from: "/logs" })
  const navigate = useNavigate({ from: "/logs" })
  const [following, setFollowing] = useState(true)
  const [atTop, setAtTop] = useState(true)
  const filter = {
    level: search.level,
    q: useDeferredValue(search.q ?? ""),
    traceId: search.traceId,
    spanId: search.spanId,
  }
  const live = following && atTop
  const { logs, pages, waiting, showWaiting } = useLogs(filter, live)
  const set = (change: Partial<Record<"level" | "q" | "traceId" | "spanId", string | undefined>>) =>
    void navigate({
      search: (now) =>
        Object.fromEntries(Object.entries({ ...now, ...change }).filter(([, value]) => value)) as typeof now,
      replace: true,
    })
  const filtered = filter.level !== undefined || filter.q !== "" || filter.traceId !== undefined

  return (
    <div className={styles.page}>
      <PageHeader
        title="Logs"
        actions={
          <>
            {search.traceId !== undefined && (
              <Button
                size="s"
                icon={<X aria-hidden />}
                onClick={() => set({ traceId: undefined, spanId: undefined })}
                aria-label="Show logs of all traces"
              >
                Trace {search.traceId.slice(0, 8)}
              </Button>
            )}
            <Select
              label="Level"
              value={search.level ?? ALL}
              onChange={(level) => set({ level: level === ALL ? undefined : level })}
              items={[{ value: ALL, label: "All levels" }, ...LEVELS]}
            />
            <SearchField label="Search logs" value={search.q ?? ""} onChange={(q) => set({ q })} />
            <Switch label="Live" checked={following} onChange={setFollowing} />
          </>
        }
      />
      {waiting > 0 && (
        <Button size="s" variant="primary" className={styles.news} onClick={showWaiting}>
          {waiting} new
        </Button>
      )}
      {pages.isError ? (
        <Failure error={pages.error} onRetry={() => void pages.refetch()} />
      ) : pages.isPending ? (
        <Skeleton lines={10} />
      ) : logs.length === 0 ? (
        <Empty
          icon={<ScrollText aria-hidden />}
          title={filtered ? "No record fits" : "Nothing was logged yet"}
          text={
            filtered
              ? undefined
              : "What the app gives to Python's logging while an action runs is kept here, beside its span."
          }
          command={filtered ? undefined : 'logging.getLogger(__name__).info("…")'}
          action={
            filtered && (
              <Button onClick={() => set({ level: undefined, q: undefined, traceId: undefined })}>
                Show all
              </Button>
            )
          }
        />
      ) : (
        <LogList
          logs={logs}
          onTop={setAtTop}
          onTrace={(traceId) => set({ traceId })}
          more={pages.hasNextPage && !pages.isFetchingNextPage ? () => void pages.fetchNextPage() : undefined}
        />
      )}
    </div>
  )
}
