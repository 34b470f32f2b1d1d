/** Nothing is here yet: why, and what to do next. */
import type { ReactNode } from "react"
import { CopyButton } from "./CopyButton"
import styles from "./Empty.module.css"

interface EmptyProps {
  icon?: ReactNode
  title: string
  text?: ReactNode
  /** A command for a shell, which can be copied. */
  command?: string | undefined
  action?: ReactNode
}

export function Empty({ icon, title, text, command, action }: EmptyProps) {
  return (
    <div className={styles.empty}>
      {icon !== undefined && <span className={styles.icon}>{icon}</span>}
      <p className={styles.title}>{title}</p>
      {text !== undefined && <div className={styles.text}>{text}</div>}
      {command !== undefined && (
        <div className={styles.command}>
          <code>{command}</code>
          <CopyButton text={command} label="Copy command" />
        </div>
      )}
      {action !== undefined && <div className={styles.action}>{action}</div>}
    </div>
  )
}
