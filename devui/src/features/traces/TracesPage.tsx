/** All traces of the project by page, newest first; filtered, compared, deleted, handed on. */
import { useNavigate, useSearch } from "@tanstack/react-router"
import { ArrowUp, ChevronLeft, ChevronRight, Trash2, Upload } from "lucide-react"
import { type ChangeEvent, type DragEvent, useRef, useState } from "react"
import { reason } from "@/api/client"
import { Button, IconButton } from "@/components/ui/Button"
import { Confirm } from "@/components/ui/Confirm"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { PageHeader } from "@/components/ui/PageHeader"
import { Skeleton } from "@/components/ui/Skeleton"
import { StaleNote } from "@/components/ui/StaleNote"
import { Switch } from "@/components/ui/Switch"
import { failed, toast } from "@/components/ui/toast"
import { classes } from "@/lib/classes"
import { plural } from "@/lib/format"
import { Chosen } from "./Chosen"
import { Filters } from "./Filters"
import { isFiltered, type Search } from "./filter"
import { pageBefore, rememberPage } from "./pages"
import styles from "./TracesPage.module.css"
import { TraceTable } from "./TraceTable"
import { deleteTraces, importFiles } from "./transfer"
import { useTraceList } from "./useTraceList"

const FOLLOW = "flowkit.traces.follow"

export function TracesPage() {
  const search: Search = useSearch({ from: "/traces" })
  const navigate = useNavigate({ from: "/traces" })
  const [follow, setFollow] = useState(() => localStorage.getItem(FOLLOW) === "1")
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [dropping, setDropping] = useState(false)
  const [asksAll, setAsksAll] = useState(false)
  const list = useTraceList(search, follow)
  const files = useRef<HTMLInputElement>(null)
  const scroll = useRef<HTMLDivElement>(null)

  const change = (filters: Search, replace = false) => {
    navigate({
      search: (before) => {
        // Another filter begins with its first page.
        const { cursor: _, ...rest } = before
        const after = { ...rest, ...filters }
        return Object.fromEntries(Object.entries(after).filter(([, value]) => value !== ""))
      },
      replace,
    })
  }
  const turn = (cursor: string | undefined) => {
    navigate({ search: ({ cursor: _, ...rest }) => (cursor === undefined ? rest : { ...rest, cursor }) })
    scroll.current?.scrollTo({ top: 0 })
  }
  const take = async (chosenFiles: Iterable<File>) => {
    const { imported, refused } = await importFiles(chosenFiles)
    for (const text of refused) toast({ title: "A file was not imported", text, tone: "error" })
    const [only] = imported
    if (imported.length === 1 && only !== undefined) navigate({ to: "/traces/$id", params: { id: only } })
    else if (imported.length > 0) toast({ title: `${plural(imported.length, "trace")} imported`, tone: "ok" })
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setDropping(false)
    void take(event.dataTransfer.files)
  }
  const removeAll = async () => {
    setAsksAll(false)
    try {
      toast({ title: `${plural(await deleteTraces({ all: true }), "trace")} deleted`, tone: "ok" })
      setChosen(new Set())
    } catch (error) {
      failed("They could not be deleted")(error)
    }
  }
  const before = pageBefore(search)

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: importing is also a button
    <div
      className={classes(styles.page, dropping && styles.dropping)}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes("Files")) return
        event.preventDefault()
        setDropping(true)
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setDropping(false)
      }}
      onDrop={drop}
    >
      <PageHeader
        title="Traces"
        actions={
          <>
            <Switch
              label="Follow"
              checked={follow}
              onChange={(on) => {
                localStorage.setItem(FOLLOW, on ? "1" : "0")
                setFollow(on)
              }}
            />
            <Button icon={<Upload aria-hidden />} onClick={() => files.current?.click()}>
              Import
            </Button>
            <input
              ref={files}
              type="file"
              accept=".json,application/json"
              multiple
              hidden
              aria-label="Trace files"
              onChange={(event: ChangeEvent<HTMLInputElement>) => {
                const picked = [...(event.target.files ?? [])]
                event.target.value = ""
                void take(picked)
              }}
            />
            <IconButton
              label="Delete all traces…"
              icon={<Trash2 aria-hidden />}
              onClick={() => setAsksAll(true)}
              disabled={list.traces.length === 0}
            />
          </>
        }
      />
      <Filters
        search={search}
        onChange={change}
        onClear={() => navigate({ search: {} })}
        onUse={(saved) => navigate({ search: saved as never })}
      />
      {chosen.size > 0 && <Chosen chosen={chosen} onChoose={setChosen} />}
      {list.error !== null && list.traces.length > 0 && (
        <StaleNote text={`This is how it was: ${reason(list.error)}.`} />
      )}
      {list.skipped > 0 && <StaleNote text={`${plural(list.skipped, "trace")} cannot be read.`} />}
      <div ref={scroll} className={styles.scroll} data-scroll-restoration-id="traces" aria-busy={list.old}>
        {list.fresh > 0 && (
          <div className={styles.fresh}>
            <Button size="s" variant="primary" icon={<ArrowUp aria-hidden />} onClick={() => list.refetch()}>
              {list.fresh} new
            </Button>
          </div>
        )}
        <Rows
          list={list}
          search={search}
          chosen={chosen}
          onChoose={setChosen}
          onClear={() => navigate({ search: {} })}
        />
      </div>
      {(list.cursor !== undefined || search.cursor !== undefined) && (
        <nav className={styles.pages} aria-label="Pages">
          <Button
            size="s"
            icon={<ChevronLeft aria-hidden />}
            disabled={search.cursor === undefined}
            onClick={() => turn(before)}
          >
            {before === undefined ? "First page" : "Previous page"}
          </Button>
          <Button
            size="s"
            disabled={list.cursor === undefined || list.old}
            onClick={() => {
              if (list.cursor === undefined) return
              rememberPage(list.cursor, search.cursor)
              turn(list.cursor)
            }}
          >
            Next page <ChevronRight aria-hidden />
          </Button>
        </nav>
      )}
      <Confirm
        open={asksAll}
        onClose={() => setAsksAll(false)}
        onConfirm={removeAll}
        title="Delete all traces?"
        confirmLabel="Delete all"
        danger
      >
        Every trace of this project and its logs are removed, also those that the filter leaves out.
      </Confirm>
    </div>
  )
}

interface RowsProps {
  list: ReturnType<typeof useTraceList>
  search: Search
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
  onClear: () => void
}

function Rows({ list, search, chosen, onChoose, onClear }: RowsProps) {
  if (list.loading) return <Skeleton lines={12} />
  if (list.error !== null && list.traces.length === 0)
    return <Failure error={list.error} onRetry={() => list.refetch()} />
  if (list.traces.length > 0) return <TraceTable traces={list.traces} chosen={chosen} onChoose={onChoose} />
  if (isFiltered(search) || search.cursor !== undefined)
    return (
      <Empty title="No trace is like that" action={<Button onClick={onClear}>Clear the filter</Button>} />
    )
  return (
    <Empty
      title="Nothing has run yet"
      text="Every run is kept as a trace, from here, from the command line and from code. Or drop the file of a trace here."
      command="flowkit flow:run NAME INPUT"
    />
  )
}
