/** Where texts lie beside each other, in the two directions in which they differ most. */
import styles from "./Scatter.module.css"
import { grouped, placed } from "./similarity"

type ScatterProps = {
  texts: readonly string[]
  points: readonly (readonly [number, number])[]
  explained: readonly [number, number]
  lit: number | undefined
  onLight: (index: number | undefined) => void
}

const WIDTH = 460
const HEIGHT = 340
const MARGIN = 34

export function Scatter({ texts, points, explained, lit, onLight }: ScatterProps) {
  const places = placed(points, WIDTH, HEIGHT, MARGIN)
  const percent = (share: number) => `${Math.round(share * 100)} %`
  const shown = lit === undefined ? undefined : texts[lit]
  return (
    <figure className={styles.figure}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be drawn in */}
      <svg
        className={styles.plane}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="group"
        aria-label={`Texts on a plane that shows ${percent(explained[0] + explained[1])} of their variance`}
      >
        <line className={styles.axis} x1={0} x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        <line className={styles.axis} x1={WIDTH / 2} x2={WIDTH / 2} y1={0} y2={HEIGHT} />
        <text className={styles.axisName} x={WIDTH - 4} y={HEIGHT / 2 - 5} textAnchor="end">
          {percent(explained[0])} of variance
        </text>
        <text className={styles.axisName} x={WIDTH / 2 + 5} y={12}>
          {percent(explained[1])}
        </text>
        {places.map(([x, y], at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two texts may be equal
          <g key={at} data-lit={lit === at || undefined} className={styles.point}>
            {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a picture that has the focus to be read */}
            <circle
              cx={x}
              cy={y}
              r={lit === at ? 7 : 5}
              tabIndex={0}
              role="img"
              aria-label={`${at + 1}: ${texts[at]}`}
              onFocus={() => onLight(at)}
              onBlur={() => onLight(undefined)}
              onPointerEnter={() => onLight(at)}
              onPointerLeave={() => onLight(undefined)}
            />
          </g>
        ))}
        {grouped(places, 12).map((group) => {
          const [x, y] = places[group[0] ?? 0] ?? [0, 0]
          const right = Math.max(...group.map((at) => places[at]?.[0] ?? x))
          return (
            <text
              key={group[0]}
              className={styles.name}
              data-lit={(lit !== undefined && group.includes(lit)) || undefined}
              x={right + 9}
              y={y + 4}
              aria-hidden
            >
              {group.map((at) => at + 1).join(", ")}
            </text>
          )
        })}
      </svg>
      <figcaption className={styles.caption}>{shown ?? "Point at a dot to read its text."}</figcaption>
    </figure>
  )
}
