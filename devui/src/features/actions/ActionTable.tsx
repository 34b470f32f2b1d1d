/** The list. A name leads to its runner; a click beside it shows the details. */
import { Link } from "@tanstack/react-router"
import { ArrowRight } from "lucide-react"
import type { ActionData } from "@/api/schema"
import { Duration } from "@/components/Duration"
import { KindIcon } from "@/components/KindIcon"
import { StatusIcon } from "@/components/StatusTag"
import { TimeAgo } from "@/components/TimeAgo"
import table from "@/components/ui/table.module.css"
import { classes } from "@/lib/classes"
import { typeText } from "@/lib/typeText"
import styles from "./ActionsPage.module.css"

interface ActionTableProps {
  actions: readonly ActionData[]
  selected: string | undefined
  onSelect: (key: string) => void
}

export function ActionTable({ actions, selected, onSelect }: ActionTableProps) {
  return (
    <table className={classes(table.table, styles.table)} aria-label="Actions">
      <thead>
        <tr>
          <th>Name</th>
          <th className={styles.types}>Takes and gives</th>
          <th className={table.num}>Last run</th>
        </tr>
      </thead>
      <tbody>
        {actions.map((action) => (
          <tr
            key={action.key}
            className={classes(table.row, selected === action.key && table.selected)}
            data-kind={action.kind}
            data-key={action.key}
            onClick={(event) => {
              if (!(event.target as HTMLElement).closest("a, button")) onSelect(action.key)
            }}
          >
            <td className={styles.about}>
              <span className={styles.name}>
                <KindIcon kind={action.kind} labelled />
                <Link to="/run/$kind/$" params={{ kind: action.kind, _splat: action.name }} search={{}}>
                  {action.name}
                </Link>
                <button
                  type="button"
                  className={styles.more}
                  aria-pressed={selected === action.key}
                  aria-label={`Details of ${action.name}`}
                  onClick={() => onSelect(action.key)}
                >
                  Details
                </button>
              </span>
              {action.description && <p className={styles.description}>{action.description}</p>}
            </td>
            <td className={styles.types}>
              <Types action={action} />
            </td>
            <td className={classes(table.num, styles.last)}>
              <LastRun action={action} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export function Types({ action }: { action: ActionData }) {
  return (
    <code className={styles.signature}>
      <span>{action.inputSchema ? typeText(action.inputSchema) : "—"}</span>
      <ArrowRight aria-label="to" size={12} />
      <span>{action.outputSchema ? typeText(action.outputSchema) : "—"}</span>
    </code>
  )
}

function LastRun({ action }: { action: ActionData }) {
  const { lastRun } = action
  if (!lastRun) return <span className={styles.never}>—</span>
  return (
    <Link to="/traces/$id" params={{ id: lastRun.traceId }} search={{}} className={styles.run}>
      <span className={styles.ago}>
        <TimeAgo ms={lastRun.startTimeMs} />
      </span>
      <Duration ms={lastRun.durationMs} />
      <StatusIcon status={lastRun.status} />
    </Link>
  )
}
