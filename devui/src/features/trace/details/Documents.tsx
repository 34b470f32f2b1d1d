/** Documents of a retriever, reranker or indexer as cards: score, where it is from, text, metadata. */
import { useState } from "react"
import { Chips } from "@/components/documents/Chips"
import { Provenance } from "@/components/documents/Provenance"
import { Button } from "@/components/ui/Button"
import { CopyButton } from "@/components/ui/CopyButton"
import { classes } from "@/lib/classes"
import { documentsOf, type Hit } from "@/lib/documents"
import { plural } from "@/lib/format"
import type { Span } from "../model/span"
import styles from "./details.module.css"

const SHOWN = 30
const LONG = 600

interface DocumentsProps {
  value: unknown
  hovered: Span | undefined
}

export function Documents({ value, hovered }: DocumentsProps) {
  const [all, setAll] = useState(false)
  const hits = documentsOf(value)
  const pointed = new Set(documentsOf(hovered?.output).map((hit) => hit.key))
  return (
    <>
      <ol className={styles.documents} aria-label="Documents">
        {(all ? hits : hits.slice(0, SHOWN)).map((hit, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same document may come twice
          <Card key={`${hit.key} ${at}`} hit={hit} place={at + 1} pointed={pointed.has(hit.key)} />
        ))}
      </ol>
      {!all && hits.length > SHOWN && (
        <Button size="s" onClick={() => setAll(true)}>
          Show all {plural(hits.length, "document")}
        </Button>
      )}
    </>
  )
}

function Card({ hit, place, pointed }: { hit: Hit; place: number; pointed: boolean }) {
  const [open, setOpen] = useState(false)
  const long = hit.text.length > LONG
  return (
    <li className={classes(styles.document, pointed && styles.pointed)} data-pointed={pointed || undefined}>
      <div className={styles.documentHead}>
        <span className={styles.place}>{place}</span>
        <Provenance metadata={hit.metadata} />
        <Score name="score" score={hit.score} />
        {hit.rerankScore !== undefined && hit.rerankScore !== hit.score && (
          <Score name="rerank" score={hit.rerankScore} />
        )}
      </div>
      <p className={styles.plain}>{long && !open ? `${hit.text.slice(0, LONG)}…` : hit.text}</p>
      <div className={styles.documentFoot}>
        <Chips metadata={hit.metadata} />
        <span className={styles.grow} />
        {long && (
          <Button size="s" variant="ghost" onClick={() => setOpen(!open)}>
            {open ? "Less" : "More"}
          </Button>
        )}
        <CopyButton text={() => JSON.stringify(hit.raw, null, 2)} label="Copy document as JSON" />
      </div>
    </li>
  )
}

function Score({ name, score }: { name: string; score: number | undefined }) {
  if (score === undefined) return null
  return (
    <span className={styles.score} title={`${name} ${score}`}>
      <span className={styles.quiet}>{name}</span>
      {score.toFixed(3)}
      <span className={styles.scoreTrack} aria-hidden="true">
        <span style={{ width: `${Math.min(1, Math.max(0, score)) * 100}%` }} />
      </span>
    </span>
  )
}
