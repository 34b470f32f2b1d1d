/** Earlier runs of an action, newest first; each can be looked at, and its input be taken. */
import { useInfiniteQuery } from "@tanstack/react-query"
import { CornerUpLeft } from "lucide-react"
import { api, ask } from "@/api/client"
import { useEvents } from "@/api/live"
import { keys } from "@/api/queries"
import type { ActionData, Summary } from "@/api/schema"
import { StatusIcon } from "@/components/StatusTag"
import { TimeAgo } from "@/components/TimeAgo"
import { Button, IconButton, LinkButton } from "@/components/ui/Button"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { Skeleton } from "@/components/ui/Skeleton"
import { useSoon } from "@/components/useSoon"
import { classes } from "@/lib/classes"
import { duration } from "@/lib/format"
import styles from "./runner.module.css"

interface HistoryProps {
  action: ActionData
  current: string | undefined
  onShow: (traceId: string) => void
  onUse: (traceId: string) => void
}

const PAGE = 30
const SOON_MS = 400

export function History({ action, current, onShow, onUse }: HistoryProps) {
  const query = useInfiniteQuery({
    queryKey: [...keys.summaries, { action: action.key, limit: PAGE, paged: true }],
    queryFn: ({ pageParam, signal }) =>
      ask(
        api.GET("/api/traces/summaries", {
          params: {
            query: { action: action.key, limit: PAGE, ...(pageParam === "" ? {} : { cursor: pageParam }) },
          },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.cursor ?? undefined,
  })
  const runs = query.data?.pages.flatMap((page) => page.traces) ?? []
  // Runs that begin elsewhere appear, too; several at once are asked for once.
  const soon = useSoon(() => void query.refetch(), SOON_MS)
  useEvents("trace", ({ trace }) => {
    if (trace?.key === action.key && !runs.some((run) => run.traceId === trace.traceId)) soon()
  })
  if (query.isPending) return <Skeleton lines={6} />
  if (query.isError) return <Failure error={query.error} onRetry={() => void query.refetch()} />
  if (runs.length === 0)
    return (
      <Empty
        title="No runs yet"
        text="Every run of this action is kept here, from wherever it was started."
      />
    )
  return (
    <div className={styles.history}>
      <ol aria-label="Earlier runs">
        {runs.map((run) => (
          <Entry
            key={run.traceId}
            run={run}
            current={run.traceId === current}
            onShow={onShow}
            onUse={onUse}
          />
        ))}
      </ol>
      <div className={styles.row}>
        {query.hasNextPage && (
          <Button
            size="s"
            variant="ghost"
            busy={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            More
          </Button>
        )}
        <LinkButton to="/traces" search={{ action: action.key }} size="s" variant="ghost">
          All traces of it
        </LinkButton>
      </div>
    </div>
  )
}

interface EntryProps {
  run: Summary
  current: boolean
  onShow: (traceId: string) => void
  onUse: (traceId: string) => void
}

function Entry({ run, current, onShow, onUse }: EntryProps) {
  return (
    <li className={classes(styles.past, current && styles.current)} data-trace-id={run.traceId}>
      <button type="button" aria-current={current || undefined} onClick={() => onShow(run.traceId)}>
        <StatusIcon status={run.status} />
        <span className={styles.what}>{run.error ?? preview(run)}</span>
        <span className={styles.time}>{duration(run.durationMs)}</span>
        <span className={styles.ago}>
          <TimeAgo ms={run.startTimeMs} />
        </span>
      </button>
      <IconButton
        label="Use its input"
        size="s"
        icon={<CornerUpLeft aria-hidden />}
        onClick={() => onUse(run.traceId)}
      />
    </li>
  )
}

function preview({ input }: Summary): string {
  if (input === undefined || input === null) return "without an input"
  const text = typeof input === "string" ? input : JSON.stringify(input)
  return text.replaceAll(/\s+/g, " ").slice(0, 120)
}
