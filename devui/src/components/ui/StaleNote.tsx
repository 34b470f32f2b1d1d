/** What is shown is old, and why. */
import { Clock3 } from "lucide-react"
import styles from "./StaleNote.module.css"

export function StaleNote({ text }: { text: string }) {
  return (
    <p className={styles.note} role="note">
      <Clock3 aria-hidden />
      {text}
    </p>
  )
}
