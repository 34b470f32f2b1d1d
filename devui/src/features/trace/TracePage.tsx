/** One trace: what it was, what it took, and every span of it. */
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { ChevronLeft, ChevronRight, Download, Play, ScrollText, Trash2 } from "lucide-react"
import { useState } from "react"
import { ApiError, api, ask } from "@/api/client"
import { keys, queryClient } from "@/api/queries"
import { Button, IconButton, LinkButton } from "@/components/ui/Button"
import { Confirm } from "@/components/ui/Confirm"
import { Empty } from "@/components/ui/Empty"
import { PageHeader } from "@/components/ui/PageHeader"
import { failed, toast } from "@/components/ui/toast"
import { useTitle } from "@/components/ui/useTitle"
import { useKeyDown } from "@/components/useKeyDown"
import { runPath } from "@/lib/paths"
import { exportTrace } from "./exportTrace"
import { isLetter } from "./keys"
import { neighbour } from "./neighbours"
import { SummaryLine } from "./SummaryLine"
import { viewOf } from "./Toolbar"
import styles from "./TracePage.module.css"
import { TraceView } from "./TraceView"
import { outlineQuery } from "./useTrace"

export function TracePage() {
  const { id } = useParams({ from: "/traces/$id" })
  const search = useSearch({ from: "/traces/$id" })
  const navigate = useNavigate({ from: "/traces/$id" })
  const { data, error } = useQuery(outlineQuery(id))
  const summary = data?.summary
  const [asks, setAsks] = useState(false)

  const step = async (direction: "older" | "newer") => {
    if (summary === undefined) return
    const found = await neighbour(summary, direction)
    if (found === undefined) {
      toast({ title: direction === "older" ? "This is the oldest trace" : "This is the newest trace" })
    } else {
      const view = search.view === undefined ? {} : { view: search.view }
      navigate({ to: "/traces/$id", params: { id: found }, search: view })
    }
  }
  useKeyDown((event) => {
    const key = event.key.toLowerCase()
    if (!isLetter(event) || (key !== "j" && key !== "k")) return
    event.preventDefault()
    step(key === "j" ? "older" : "newer")
  })

  const remove = async () => {
    setAsks(false)
    try {
      await ask(api.DELETE("/api/traces/{trace_id}", { params: { path: { trace_id: id } } }))
    } catch (error) {
      failed("The trace could not be deleted")(error)
      return
    }
    queryClient.removeQueries({ queryKey: keys.trace(id) })
    queryClient.invalidateQueries({ queryKey: keys.summaries })
    toast({ title: "Trace deleted", tone: "ok" })
    navigate({ to: "/traces" })
  }

  // 400: what is in the address is no id at all.
  if (error instanceof ApiError && (error.http === 404 || error.http === 400)) return <Missing id={id} />
  return (
    <div className={styles.page} data-trace={id} data-status={summary?.status}>
      <PageHeader
        title={summary?.name ?? `Trace ${id.slice(0, 8)}`}
        lead={<SummaryLine summary={summary} spans={data?.spans} />}
        actions={
          <>
            <IconButton
              label="Newer trace  K"
              icon={<ChevronLeft aria-hidden />}
              onClick={() => step("newer")}
              disabled={summary === undefined}
            />
            <IconButton
              label="Older trace  J"
              icon={<ChevronRight aria-hidden />}
              onClick={() => step("older")}
              disabled={summary === undefined}
            />
            {summary?.key != null && (
              <LinkButton
                icon={<Play aria-hidden />}
                to={runPath(summary.key) as never}
                search={{ from: id } as never}
              >
                Run again
              </LinkButton>
            )}
            <LinkButton icon={<ScrollText aria-hidden />} to="/logs" search={{ traceId: id }}>
              Logs
            </LinkButton>
            <Button icon={<Download aria-hidden />} onClick={() => exportTrace(id)}>
              Export
            </Button>
            <Button
              icon={<Trash2 aria-hidden />}
              onClick={() => setAsks(true)}
              disabled={summary === undefined}
            >
              Delete
            </Button>
          </>
        }
      />
      <TraceView
        traceId={id}
        selected={search.span}
        onSelect={(span) =>
          navigate({ search: (before) => ({ ...before, span }), replace: true, resetScroll: false })
        }
        view={viewOf(search.view)}
        onView={(view) => {
          navigate({
            search: ({ view: _, ...before }) => (view === "tree" ? before : { ...before, view }),
            replace: true,
            resetScroll: false,
          })
        }}
        tab={search.tab}
        onTab={(tab) =>
          navigate({ search: (before) => ({ ...before, tab }), replace: true, resetScroll: false })
        }
      />
      <Confirm
        open={asks}
        onClose={() => setAsks(false)}
        onConfirm={remove}
        title="Delete this trace?"
        confirmLabel="Delete"
        danger
      >
        Its spans and its logs are removed from the project. It cannot be brought back, except from an export.
      </Confirm>
    </div>
  )
}

function Missing({ id }: { id: string }) {
  useTitle("No such trace")
  return (
    <div className={styles.page}>
      <h1 className={styles.missing}>There is no trace {id.slice(0, 8)}</h1>
      <Empty
        title="It is not in the store of this project"
        text="It was deleted, it is older than what is kept, or it was made in another project. A colleague can export it for you."
        command={`flowkit trace:import FILE`}
        action={<LinkButton to="/traces">All traces</LinkButton>}
      />
    </div>
  )
}
