/** How many places a document went up or down. */
import { ArrowDown, ArrowUp, Equal } from "lucide-react"
import styles from "./RetrievalBench.module.css"

export function MoveBadge({ climb, title }: { climb: number; title?: string }) {
  const direction = climb > 0 ? "up" : climb < 0 ? "down" : "same"
  const Icon = { up: ArrowUp, down: ArrowDown, same: Equal }[direction]
  const words = { up: `up ${climb}`, down: `down ${-climb}`, same: "same rank" }[direction]
  return (
    <span className={styles.move} data-move={direction} title={title}>
      <Icon size={12} aria-hidden />
      <span aria-hidden>{climb === 0 ? "" : Math.abs(climb)}</span>
      <span className={styles.hidden}>{title === undefined ? words : `${words}. ${title}`}</span>
    </span>
  )
}
