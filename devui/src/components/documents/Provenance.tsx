/** Where a chunk is from: file, page, heading, and its number. */
import { FileText } from "lucide-react"
import { type Metadata, placeOf } from "@/lib/documents"
import styles from "./documents.module.css"

export function Provenance({ metadata }: { metadata: Metadata }) {
  const place = placeOf(metadata)
  const span =
    place.start === undefined ? undefined : `characters ${place.start} to ${place.end} of the source`
  const parts: [string, string][] = []
  if (place.page !== undefined) parts.push(["page", `page ${place.page}`])
  if (place.heading !== undefined) parts.push(["heading", place.heading])
  if (place.index !== undefined) parts.push(["chunk", `chunk ${place.index}`])
  return (
    <span className={styles.place}>
      <FileText aria-hidden size={13} />
      <span className={styles.source} data-part="source" title={place.source}>
        {place.source === undefined ? "no source" : shortened(place.source)}
      </span>
      {parts.map(([name, text]) => (
        <span key={name} data-part={name} className={styles.part} title={name === "chunk" ? span : undefined}>
          {text}
        </span>
      ))}
    </span>
  )
}

/** The end of a path tells more than its beginning. */
function shortened(source: string): string {
  return source.length > 60 ? `…${source.slice(-58)}` : source
}
