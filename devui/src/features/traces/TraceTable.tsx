/** The rows of the list. */
import { Link, useNavigate } from "@tanstack/react-router"
import type { KeyboardEvent } from "react"
import type { Summary } from "@/api/schema"
import { Duration } from "@/components/Duration"
import { KindTag } from "@/components/KindTag"
import { StatusIcon } from "@/components/StatusTag"
import { TimeAgo } from "@/components/TimeAgo"
import { Checkbox } from "@/components/ui/Checkbox"
import table from "@/components/ui/table.module.css"
import { classes } from "@/lib/classes"
import { count } from "@/lib/format"
import styles from "./TracesPage.module.css"

interface TraceTableProps {
  traces: readonly Summary[]
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
}

export function TraceTable({ traces, chosen, onChoose }: TraceTableProps) {
  const here = traces.filter((trace) => chosen.has(trace.traceId)).length
  const choose = (id: string, on: boolean) => {
    const after = new Set(chosen)
    if (on) after.add(id)
    else after.delete(id)
    onChoose(after)
  }
  const chooseAll = (on: boolean) => {
    const after = new Set(chosen)
    for (const { traceId } of traces) {
      if (on) after.add(traceId)
      else after.delete(traceId)
    }
    onChoose(after)
  }
  return (
    <table className={classes(table.table, styles.table)} aria-label="Traces">
      <thead>
        <tr>
          <th className={styles.check}>
            <Checkbox
              label="Select all of this page"
              hideLabel
              checked={here > 0 && here === traces.length}
              indeterminate={here > 0 && here < traces.length}
              onChange={chooseAll}
            />
          </th>
          <th className={styles.nameColumn}>Trace</th>
          <th className={styles.input}>Input</th>
          <th className={table.num}>Duration</th>
          <th className={classes(table.num, styles.wide)}>Tokens</th>
          <th className={classes(table.num, styles.wide)}>Spans</th>
          <th className={table.num}>Started</th>
        </tr>
      </thead>
      <tbody onKeyDown={moveFocus}>
        {traces.map((trace) => (
          <Row key={trace.traceId} trace={trace} chosen={chosen.has(trace.traceId)} onChoose={choose} />
        ))}
      </tbody>
    </table>
  )
}

interface RowProps {
  trace: Summary
  chosen: boolean
  onChoose: (id: string, on: boolean) => void
}

function Row({ trace, chosen, onChoose }: RowProps) {
  const navigate = useNavigate()
  const id = trace.traceId
  const tokens = (trace.inputTokens ?? 0) + (trace.outputTokens ?? 0)
  const known = trace.inputTokens != null || trace.outputTokens != null
  return (
    <tr
      className={classes(table.row, styles.row, chosen && table.selected)}
      data-trace-id={id}
      data-status={trace.status}
      onClick={(event) => {
        const target = event.target as HTMLElement
        if (target.closest("a, button, input, [role=checkbox]") !== null || getSelection()?.toString()) return
        if (event.ctrlKey || event.metaKey) onChoose(id, !chosen)
        else navigate({ to: "/traces/$id", params: { id } })
      }}
    >
      <td className={styles.check}>
        <Checkbox
          label={`Select ${trace.name} ${id.slice(0, 8)}`}
          hideLabel
          checked={chosen}
          onChange={(on) => onChoose(id, on)}
        />
      </td>
      <td className={styles.nameColumn}>
        <div className={styles.name}>
          <StatusIcon status={trace.status} />
          <Link to="/traces/$id" params={{ id }} className={styles.link} title={trace.name}>
            {trace.name}
          </Link>
          <KindTag kind={trace.kind} />
        </div>
      </td>
      <td className={classes(styles.input, trace.error != null && styles.error)}>
        <span title={trace.error ?? trace.input ?? ""}>{trace.error ?? trace.input ?? ""}</span>
      </td>
      <td className={table.num}>
        <Duration ms={trace.durationMs} />
      </td>
      <td className={classes(table.num, styles.wide)}>{known ? count(tokens) : "—"}</td>
      <td className={classes(table.num, styles.wide)}>{count(trace.spans)}</td>
      <td className={table.num}>
        <TimeAgo ms={trace.startTimeMs} />
      </td>
    </tr>
  )
}

/** Up and down go from one trace to the next. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("tr a")]
  const at = links.indexOf(document.activeElement as HTMLElement)
  const next = links[at + (event.key === "ArrowDown" ? 1 : -1)]
  if (at < 0 || next === undefined) return
  event.preventDefault()
  next.focus()
}
