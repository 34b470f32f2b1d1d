/** How a run or trace stands: a sign and a word. */
import { CircleCheck, CircleDashed, CircleHelp, CircleSlash, CircleX, type LucideIcon } from "lucide-react"
import { classes } from "@/lib/classes"
import styles from "./StatusTag.module.css"

type Status = "running" | "success" | "error" | "cancelled" | "lost"

const SIGNS: Record<Status, { Icon: LucideIcon; word: string }> = {
  running: { Icon: CircleDashed, word: "Running" },
  success: { Icon: CircleCheck, word: "Success" },
  error: { Icon: CircleX, word: "Error" },
  cancelled: { Icon: CircleSlash, word: "Cancelled" },
  lost: { Icon: CircleHelp, word: "Lost" },
}

interface StatusProps {
  /** Absent while it runs, as the server has it for the last run of an action. */
  status: Status | string | null | undefined
}

function known(status: StatusProps["status"]): Status {
  return status !== null && status !== undefined && status in SIGNS ? (status as Status) : "running"
}

export function StatusIcon({ status }: StatusProps) {
  const { Icon, word } = SIGNS[known(status)]
  return <Icon className={classes(styles.icon, styles[known(status)])} role="img" aria-label={word} />
}

export function StatusTag({ status }: StatusProps) {
  const { Icon, word } = SIGNS[known(status)]
  return (
    <span className={classes(styles.tag, styles[known(status)])}>
      <Icon className={styles.icon} aria-hidden />
      {word}
    </span>
  )
}
