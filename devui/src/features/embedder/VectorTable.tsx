/** One line for each vector: its length, its nearest neighbour, its first values. */
import type { EmbedPreviewData } from "@/api/schema"
import table from "@/components/ui/table.module.css"
import { classes } from "@/lib/classes"
import styles from "./EmbedderBench.module.css"
import { cosineText, nearest } from "./similarity"

type VectorTableProps = {
  texts: readonly string[]
  data: EmbedPreviewData
  lit: number | undefined
  onLight: (index: number | undefined) => void
}

export function VectorTable({ texts, data, lit, onLight }: VectorTableProps) {
  return (
    <div className={styles.wide}>
      <table className={table.table}>
        <thead>
          <tr>
            <th className={table.num}>#</th>
            <th>Text</th>
            <th className={table.num}>Norm</th>
            <th>Nearest</th>
            <th>First values</th>
          </tr>
        </thead>
        <tbody>
          {data.vectors.map((vector, at) => {
            const near = nearest(data.similarity, at)
            return (
              <tr
                // biome-ignore lint/suspicious/noArrayIndexKey: two texts may be equal
                key={at}
                className={classes(table.row, lit === at && table.selected)}
                onPointerEnter={() => onLight(at)}
                onPointerLeave={() => onLight(undefined)}
              >
                <td className={table.num}>{at + 1}</td>
                <td className={styles.textCell} title={texts[at]}>
                  {texts[at]}
                </td>
                <td className={table.num}>{vector.norm.toFixed(3)}</td>
                <td className={styles.near}>
                  {near === undefined ? "—" : `${near.index + 1} (${cosineText(near.value)})`}
                </td>
                <td className={styles.values}>
                  <code>
                    {vector.first.map((value) => value.toFixed(3)).join(", ")}
                    {data.dimension > vector.first.length && ", …"}
                  </code>
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
