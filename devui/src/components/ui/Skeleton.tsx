/** Where something will be. Not seen before 150 ms, so that what is quick does not flicker. */
import styles from "./Skeleton.module.css"

const WIDTHS = ["92%", "74%", "84%", "61%", "88%"]

export function Skeleton({ lines = 3 }: { lines?: number | undefined }) {
  return (
    <div className={styles.skeleton} role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
        <span key={at} className={styles.line} style={{ width: WIDTHS[at % WIDTHS.length] }} />
      ))}
    </div>
  )
}
