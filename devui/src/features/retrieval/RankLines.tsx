/** Two rankings of the same documents side by side, with a line from the old rank of each to its new one. */
import type { ReactNode } from "react"
import { Highlighted } from "@/components/documents/Highlighted"
import { Badge } from "@/components/ui/Badge"
import { type Hit, placeOf } from "@/lib/documents"
import { excerpt } from "@/lib/highlight"
import { climb, type Move, moves, ranks } from "@/lib/ranks"
import { MoveBadge } from "./MoveBadge"
import styles from "./RankLines.module.css"
import { type Scale, scoreText } from "./scale"

type Ranking = {
  title: string
  hits: readonly Hit[]
  score: (hit: Hit) => number | undefined
  scale: Scale
  note: ReactNode
}

type RankLinesProps = {
  before: Ranking
  after: Ranking
  query: string
  lit: string | undefined
  onPoint: (key: string | undefined) => void
  chosen: string | undefined
  onChoose: (key: string) => void
}

const ROW = 52
const WIDTH = 96

export function RankLines({ before, after, query, lit, onPoint, chosen, onChoose }: RankLinesProps) {
  const all = moves(
    before.hits.map((hit) => hit.key),
    after.hits.map((hit) => hit.key),
  )
  const was = ranks(before.hits.map((hit) => hit.key))
  const rows = Math.max(before.hits.length, after.hits.length)
  const shared = { query, lit, onPoint, chosen, onChoose }
  return (
    <div className={styles.lines}>
      <Side name="before" ranking={before} {...shared} />
      <svg
        className={styles.paths}
        width={WIDTH}
        height={rows * ROW}
        viewBox={`0 0 ${WIDTH} ${rows * ROW}`}
        aria-hidden
      >
        {all.map((move) => (
          <Line key={move.key} move={move} lit={lit === move.key || chosen === move.key} />
        ))}
      </svg>
      <Side
        name="after"
        ranking={after}
        {...shared}
        note={(hit, rank) => {
          const old = was.get(hit.key)
          return old === undefined ? (
            <Badge tone="warn">new</Badge>
          ) : (
            <MoveBadge climb={old - rank} title={`Was rank ${old + 1}`} />
          )
        }}
      />
    </div>
  )
}

function Line({ move, lit }: { move: Move; lit: boolean }) {
  if (move.before === undefined || move.after === undefined) return null
  const from = (move.before + 0.5) * ROW
  const to = (move.after + 0.5) * ROW
  const up = climb(move) ?? 0
  const direction = up > 0 ? "up" : up < 0 ? "down" : "same"
  const middle = WIDTH / 2
  return (
    <g className={styles.path} data-move={direction} data-lit={lit || undefined}>
      <path d={`M 2 ${from} C ${middle} ${from}, ${middle} ${to}, ${WIDTH - 8} ${to}`} />
      <path
        className={styles.tip}
        d={`M ${WIDTH - 8} ${to - 4} L ${WIDTH - 1} ${to} L ${WIDTH - 8} ${to + 4} Z`}
      />
    </g>
  )
}

type SideProps = {
  name: "before" | "after"
  ranking: Ranking
  query: string
  lit: string | undefined
  onPoint: (key: string | undefined) => void
  chosen: string | undefined
  onChoose: (key: string) => void
  note?: (hit: Hit, rank: number) => ReactNode
}

function Side({ name, ranking, query, lit, onPoint, chosen, onChoose, note }: SideProps) {
  return (
    <div className={styles.side} data-side={name}>
      <div className={styles.head}>
        <h2>{ranking.title}</h2>
        {ranking.note}
      </div>
      <ol aria-label={name === "before" ? "Before" : "After"}>
        {ranking.hits.map((hit, rank) => {
          const place = placeOf(hit.metadata)
          const score = ranking.score(hit)
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the order is what is shown
            <li key={`${hit.key}-${rank}`}>
              <button
                type="button"
                className={styles.row}
                style={{ height: ROW }}
                data-lit={lit === hit.key || undefined}
                aria-pressed={chosen === hit.key}
                onClick={() => onChoose(hit.key)}
                onPointerEnter={() => onPoint(hit.key)}
                onPointerLeave={() => onPoint(undefined)}
                onFocus={() => onPoint(hit.key)}
                onBlur={() => onPoint(undefined)}
              >
                <span className={styles.rank}>{rank + 1}</span>
                <span className={styles.gauge}>
                  <span className={styles.number}>{scoreText(score)}</span>
                  <span className={styles.track} aria-hidden>
                    <span
                      style={{ width: `${(ranking.scale.width(score) * 100).toFixed(1)}%` }}
                      data-part="bar"
                    />
                  </span>
                </span>
                <span className={styles.words}>
                  <span className={styles.text}>
                    <Highlighted segments={excerpt(hit.text.replace(/\s+/g, " "), query, 110)} />
                  </span>
                  <span className={styles.place}>
                    {place.source ?? "no source"}
                    {place.page !== undefined && ` · page ${place.page}`}
                  </span>
                </span>
                {note && <span className={styles.note}>{note(hit, rank)}</span>}
              </button>
            </li>
          )
        })}
      </ol>
    </div>
  )
}
