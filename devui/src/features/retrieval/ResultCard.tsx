/** One hit: its rank, its score with a bar, where it is from, its text with the words of the query marked. */
import { Link } from "@tanstack/react-router"
import { ChevronsDownUp, ChevronsUpDown, DatabaseZap, ListTree } from "lucide-react"
import { type ReactNode, useState } from "react"
import { Chips } from "@/components/documents/Chips"
import { Highlighted } from "@/components/documents/Highlighted"
import { hasNeighbours, Neighbours } from "@/components/documents/Neighbours"
import { Provenance } from "@/components/documents/Provenance"
import { Button } from "@/components/ui/Button"
import { CopyButton } from "@/components/ui/CopyButton"
import type { Hit } from "@/lib/documents"
import { excerpt, highlight } from "@/lib/highlight"
import styles from "./ResultCard.module.css"
import { type Scale, scoreText } from "./scale"

type ResultCardProps = {
  hit: Hit
  rank: number
  score: number | undefined
  query: string
  scale: Scale
  /** The index that has it, where one is behind the action. */
  store?: string | undefined
  /** Beside the score: where it is in another list. */
  note?: ReactNode
  compact?: boolean
  lit?: boolean
  onPoint?: (key: string | undefined) => void
  onFilter?: ((term: string) => void) | undefined
}

const EXCERPT = 420

export function ResultCard(props: ResultCardProps) {
  const {
    hit,
    rank,
    score,
    query,
    scale,
    store,
    note,
    compact = false,
    lit = false,
    onPoint,
    onFilter,
  } = props
  const [open, setOpen] = useState(false)
  const [around, setAround] = useState(false)
  const length = compact ? 160 : EXCERPT
  const long = hit.text.length > length
  const tools = (
    <span className={styles.tools}>
      {store !== undefined && hasNeighbours(hit.metadata) && (
        <Button
          size="s"
          variant="ghost"
          aria-pressed={around}
          icon={<ListTree aria-hidden />}
          onClick={() => setAround(!around)}
        >
          Neighbours
        </Button>
      )}
      {store !== undefined && hit.id !== undefined && (
        <Link
          to="/stores/$"
          params={{ _splat: store }}
          search={{ id: hit.id }}
          className={styles.link}
          title="Open in the store"
        >
          <DatabaseZap aria-hidden size={13} />
          Store
        </Link>
      )}
      <CopyButton text={hit.text} label="Copy text" />
    </span>
  )
  return (
    <li
      className={styles.card}
      data-rank={rank}
      data-lit={lit || undefined}
      data-compact={compact || undefined}
      onPointerEnter={() => onPoint?.(hit.key)}
      onPointerLeave={() => onPoint?.(undefined)}
    >
      <div className={styles.gauge}>
        <span className={styles.rank}>{rank}</span>
        <div className={styles.score}>
          <span className={styles.number} title={score === undefined ? undefined : String(score)}>
            {scoreText(score)}
          </span>
          <span className={styles.track} aria-hidden>
            <span
              className={styles.bar}
              data-part="bar"
              style={{ width: `${(scale.width(score) * 100).toFixed(1)}%` }}
            />
          </span>
        </div>
      </div>
      <div className={styles.body}>
        <div className={styles.head}>
          <Provenance metadata={hit.metadata} />
          {note}
          {!compact && tools}
        </div>
        {around && store !== undefined ? (
          <Neighbours store={store} metadata={hit.metadata} text={hit.text} />
        ) : (
          <p className={styles.text} data-open={open || undefined}>
            <Highlighted segments={open ? highlight(hit.text, query) : excerpt(hit.text, query, length)} />
            {hit.text === "" && <span className={styles.none}>no text</span>}
          </p>
        )}
        <div className={styles.foot}>
          {long && !around && (
            <Button
              size="s"
              variant="ghost"
              aria-expanded={open}
              icon={open ? <ChevronsDownUp aria-hidden /> : <ChevronsUpDown aria-hidden />}
              onClick={() => setOpen(!open)}
            >
              {open ? "Less" : `All ${hit.text.length.toLocaleString("en-GB")} characters`}
            </Button>
          )}
          {compact && tools}
          {!compact && <Chips metadata={hit.metadata} {...(onFilter === undefined ? {} : { onFilter })} />}
        </div>
      </div>
    </li>
  )
}
