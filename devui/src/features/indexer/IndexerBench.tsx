/** From a file to an index: how it is cut is seen before anything is written, then how far the writing is. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { DatabaseZap, Scissors } from "lucide-react"
import { useEffect, useState } from "react"
import { api, ask } from "@/api/client"
import type { ActionData, SplitPreview } from "@/api/schema"
import { Button } from "@/components/ui/Button"
import { Checkbox } from "@/components/ui/Checkbox"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { Kbd } from "@/components/ui/Kbd"
import { Skeleton } from "@/components/ui/Skeleton"
import { useRunKey } from "@/components/useRunKey"
import { plural } from "@/lib/format"
import { shellQuote } from "@/lib/shell"
import { ChunkView } from "./ChunkView"
import styles from "./IndexerBench.module.css"
import { type Cutting, type Material, previewOf, sourceOf } from "./material"
import { ReportView } from "./ReportView"
import { SourcePicker } from "./SourcePicker"
import { SplitterForm, settingErrors } from "./SplitterForm"
import { Stages } from "./Stages"
import { useIndexing } from "./useIndexing"

const PAUSE_MS = 300

export function IndexerBench({ action }: { action: ActionData }) {
  const [material, setMaterial] = useState<Material>()
  const [cutting, setCutting] = useState<Cutting>({ splitter: "auto", settings: {} })
  const [replace, setReplace] = useState(true)
  const job = useIndexing(action.key)

  const wanted = previewOf(material, cutting, action.index?.embedder ?? undefined)
  const body = useSettled(wanted)
  const preview = useQuery({
    queryKey: ["split-preview", body],
    queryFn: ({ signal }) => ask(api.POST("/api/split-preview", { body: body as SplitPreview, signal })),
    enabled: body !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 60_000,
  })
  const shown = body === undefined ? undefined : preview.data
  const running = job.state === "running"
  const wrong = body === undefined ? null : preview.error
  const ready = wanted !== undefined && wrong === null && !running

  const start = () => {
    if (!ready || material === undefined) return
    void job.start({ action, body: wanted, source: sourceOf(material), replace })
  }
  useRunKey(start)

  return (
    <div className={styles.bench}>
      <div className={styles.side}>
        <SourcePicker material={material} onChange={setMaterial} />
        <SplitterForm cutting={cutting} onChange={setCutting} error={wrong} />
        <div className={styles.go}>
          {action.index && (
            <Checkbox
              checked={replace}
              onChange={setReplace}
              label="Delete what the index has of this source and the text no longer says"
            />
          )}
          <Button
            variant="primary"
            icon={<DatabaseZap aria-hidden />}
            disabled={!ready}
            busy={running}
            onClick={start}
          >
            Index{shown !== undefined && ready && ` ${plural(shown.total, "chunk")}`} <Kbd keys="Mod+Enter" />
          </Button>
        </div>
      </div>
      <div className={styles.main}>
        {job.state !== "idle" && (
          <div className={styles.job}>
            <Stages job={job} />
            {job.state === "cancelled" && (
              <p className={styles.about} role="status">
                Cancelled. What was written stays; index again for the rest.
              </p>
            )}
            {job.error !== undefined && <Failure error={job.error} onRetry={start} />}
            {job.report !== undefined && (
              <ReportView report={job.report} action={action} source={job.source} />
            )}
          </div>
        )}
        {wrong !== null && settingErrors(wrong).length === 0 && (
          <Failure error={wrong} onRetry={() => preview.refetch()} />
        )}
        {body !== undefined && preview.isPending && wrong === null && <Skeleton lines={12} />}
        {shown !== undefined && (
          <ChunkView preview={shown} stale={preview.isFetching || preview.isPlaceholderData} />
        )}
        {body === undefined && (
          <Empty
            icon={<Scissors aria-hidden />}
            title="See how a file is cut before it is written"
            text="Choose a file or a text. Its chunks are drawn on the text, and change as the settings do. For whole folders, use the command."
            command={`flowkit rag:index docs/ --index ${shellQuote(action.index?.name ?? action.name)}`}
          />
        )}
      </div>
    </div>
  )
}

/** A value that has not changed for a moment. */
function useSettled<T>(value: T): T {
  const written = JSON.stringify(value)
  const [settled, setSettled] = useState(value)
  // biome-ignore lint/correctness/useExhaustiveDependencies: equal values are one
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [written])
  return settled
}
