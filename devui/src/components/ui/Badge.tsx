/** A word or number that stands out a little. */
import type { ReactNode } from "react"
import { classes } from "@/lib/classes"
import styles from "./Badge.module.css"

export type Tone = "neutral" | "ok" | "error" | "warn" | "accent"

export function Badge({ tone = "neutral", children }: { tone?: Tone | undefined; children: ReactNode }) {
  return <span className={classes(styles.badge, styles[tone])}>{children}</span>
}
