/** Chunks as a table: sizes, what each repeats, and its metadata. */
import { useState } from "react"
import type { ChunkData } from "@/api/schema"
import { Chips } from "@/components/documents/Chips"
import { Button } from "@/components/ui/Button"
import table from "@/components/ui/table.module.css"
import { classes } from "@/lib/classes"
import { placeOf } from "@/lib/documents"
import { count, plural } from "@/lib/format"
import styles from "./ChunkView.module.css"

const STEP = 200

type ChunkTableProps = {
  chunks: readonly ChunkData[]
  chosen: number | undefined
  onChoose: (index: number) => void
}

export function ChunkTable({ chunks, chosen, onChoose }: ChunkTableProps) {
  const [shown, setShown] = useState(STEP)
  const some = chunks.slice(0, shown)
  const pages = chunks.some(({ metadata }) => metadata.page !== undefined)
  const headings = chunks.some(({ metadata }) => metadata.heading !== undefined)
  return (
    <div className={styles.wide}>
      <table className={table.table}>
        <thead>
          <tr>
            <th className={table.num}>#</th>
            <th>Text</th>
            <th className={table.num}>Tokens</th>
            <th className={table.num}>Characters</th>
            <th className={table.num}>Overlap</th>
            <th className={table.num}>Span</th>
            {pages && <th className={table.num}>Page</th>}
            {headings && <th>Heading</th>}
          </tr>
        </thead>
        <tbody>
          {some.map((chunk, at) => {
            const place = placeOf(chunk.metadata)
            const open = chosen === at
            return (
              <tr key={chunk.index} className={classes(table.row, open && table.selected)}>
                <td className={table.num}>{chunk.index}</td>
                <td className={styles.words}>
                  <button
                    type="button"
                    aria-expanded={open}
                    onClick={() => onChoose(at)}
                    data-open={open || undefined}
                  >
                    {chunk.text}
                  </button>
                  {open && <Chips metadata={chunk.metadata} />}
                </td>
                <td className={table.num}>{count(chunk.tokens)}</td>
                <td className={table.num}>{count(chunk.chars)}</td>
                <td className={table.num}>
                  {chunk.overlap
                    ? `${count(chunk.overlap.chars)} (${plural(chunk.overlap.tokens, "token")})`
                    : "—"}
                </td>
                <td className={table.num}>
                  {count(chunk.start)}–{count(chunk.end)}
                </td>
                {pages && <td className={table.num}>{place.page}</td>}
                {headings && <td className={styles.heading}>{place.heading}</td>}
              </tr>
            )
          })}
        </tbody>
      </table>
      {shown < chunks.length && (
        <Button variant="ghost" onClick={() => setShown(shown + STEP)}>
          Show {plural(Math.min(STEP, chunks.length - shown), "more chunk")}
        </Button>
      )}
    </div>
  )
}
