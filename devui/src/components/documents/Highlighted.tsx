/** A text with the words of a query marked: `<Highlighted segments={highlight(text, query)} />`. */
import type { Segment } from "@/lib/highlight"
import styles from "./documents.module.css"

export function Highlighted({ segments }: { segments: readonly Segment[] }) {
  let at = 0
  return segments.map((segment) => {
    const start = at
    at += segment.text.length
    return segment.mark ? (
      <mark key={start} className={styles.mark}>
        {segment.text}
      </mark>
    ) : (
      <span key={start}>{segment.text}</span>
    )
  })
}
