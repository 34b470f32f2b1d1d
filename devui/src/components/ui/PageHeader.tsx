/** The head of a page: its name, which is also the title of the tab, a word about it, and what can be done. */
import type { ReactNode } from "react"
import styles from "./PageHeader.module.css"
import { useTitle } from "./useTitle"

interface PageHeaderProps {
  title: string
  lead?: ReactNode
  actions?: ReactNode
}

export function PageHeader({ title, lead, actions }: PageHeaderProps) {
  useTitle(title)
  return (
    <header className={styles.header}>
      <div className={styles.words}>
        <h1 className={styles.title}>{title}</h1>
        {lead !== undefined && <div className={styles.lead}>{lead}</div>}
      </div>
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </header>
  )
}
