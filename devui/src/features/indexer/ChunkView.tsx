/** How a text is cut: on the text itself, and as a table. */
import { useState } from "react"
import type { SplitPreviewData } from "@/api/schema"
import { Segmented } from "@/components/ui/Segmented"
import { count, plural } from "@/lib/format"
import { ChunkProfile } from "./ChunkProfile"
import { ChunkTable } from "./ChunkTable"
import { ChunkText } from "./ChunkText"
import styles from "./ChunkView.module.css"
import { sizesOf } from "./material"

export function ChunkView({ preview, stale }: { preview: SplitPreviewData; stale: boolean }) {
  const [view, setView] = useState<"text" | "table">("text")
  const [chosen, setChosen] = useState<number>()
  const sizes = sizesOf(preview.chunks)
  const choose = (index: number) => setChosen(index === chosen ? undefined : index)
  return (
    <section className={styles.view} aria-label="Chunks" data-stale={stale || undefined} aria-busy={stale}>
      <div className={styles.summary}>
        <b>{plural(preview.total, "chunk")}</b>
        <span>{plural(preview.tokens, "token")}</span>
        <span title={`Tokens are counted by ${preview.countedBy}`}>
          {preview.countedBy === "estimate" ? "estimated" : `by ${preview.countedBy}`}
        </span>
        <span>
          {count(sizes.least)}–{count(sizes.most)} tokens each, {count(sizes.middle)} in the middle
        </span>
        <span>{sizes.shared > 0 ? `${(sizes.shared * 100).toFixed(0)} % twice` : "no overlap"}</span>
        {preview.total > preview.chunks.length && (
          <span className={styles.warn}>only the first {count(preview.chunks.length)} are shown</span>
        )}
        <span className={styles.switch}>
          <Segmented
            label="View of chunks"
            value={view}
            onChange={setView}
            items={[
              { value: "text", label: "Text" },
              { value: "table", label: "Table" },
            ]}
          />
        </span>
      </div>
      <ChunkProfile chunks={preview.chunks} chosen={chosen} onChoose={choose} />
      {view === "text" ? (
        <ChunkText preview={preview} chosen={chosen} onChoose={choose} />
      ) : (
        <ChunkTable chunks={preview.chunks} chosen={chosen} onChoose={choose} />
      )}
    </section>
  )
}
