/** How alike each pair of texts is: a number in each cell, and a colour that grows with it. */
import type { CSSProperties } from "react"
import styles from "./Heatmap.module.css"
import { cosineText, heat } from "./similarity"

type HeatmapProps = {
  texts: readonly string[]
  matrix: readonly (readonly number[])[]
  lit: number | undefined
  onLight: (index: number | undefined) => void
}

export function Heatmap({ texts, matrix, lit, onLight }: HeatmapProps) {
  const scale = heat(matrix)
  return (
    <figure className={styles.figure}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section className={styles.scroll} tabIndex={0} aria-label="Similarity of each pair">
        <table className={styles.matrix} onPointerLeave={() => onLight(undefined)}>
          <thead>
            <tr>
              <td />
              {texts.map((text, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two texts may be equal
                <th key={at} scope="col" title={text} data-lit={lit === at || undefined}>
                  {at + 1}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {matrix.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two texts may be equal
              <tr key={at}>
                <th scope="row" title={texts[at]} data-lit={lit === at || undefined}>
                  <span className={styles.number}>{at + 1}</span>
                  <span className={styles.text}>{texts[at]}</span>
                </th>
                {row.map((value, other) => (
                  <td
                    // biome-ignore lint/suspicious/noArrayIndexKey: two texts may be equal
                    key={other}
                    className={styles.cell}
                    style={{ "--strength": `${(scale.strength(value) * 44).toFixed(1)}%` } as CSSProperties}
                    title={`${value.toFixed(4)}: ${texts[at]} / ${texts[other]}`}
                    onPointerEnter={() => onLight(at)}
                  >
                    {cosineText(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <figcaption className={styles.legend}>
        {cosineText(scale.least)} <span className={styles.ramp} aria-hidden /> 1.00
      </figcaption>
    </figure>
  )
}
