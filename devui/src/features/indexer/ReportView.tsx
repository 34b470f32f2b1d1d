/** What an indexing has done, and where to go from there. */
import { Link } from "@tanstack/react-router"
import { CircleCheck, TriangleAlert } from "lucide-react"
import type { ActionData } from "@/api/schema"
import { TraceLink } from "@/components/TraceLink"
import { count, duration, plural } from "@/lib/format"
import styles from "./IndexerBench.module.css"
import type { Report } from "./indexing"

export function ReportView({
  report,
  action,
  source,
}: {
  report: Report
  action: ActionData
  source: string
}) {
  const lines: [string, number][] = [
    ["new", report.written],
    ["changed", report.updated],
    ["as they were", report.unchanged],
    ["outdated and deleted", report.deleted],
    ["embeddings from the cache", report.cached],
  ]
  return (
    <section className={styles.report} aria-label="Report">
      <p className={styles.reportHead}>
        <CircleCheck aria-hidden size={15} />
        <b>{plural(report.chunks, "chunk")}</b> of {source} in {duration(report.ms)}
      </p>
      <dl className={styles.numbers}>
        {lines
          .filter(([, number]) => number > 0)
          .map(([name, number]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{count(number)}</dd>
            </div>
          ))}
      </dl>
      {report.warnings.map((warning) => (
        <p key={warning} className={styles.warning}>
          <TriangleAlert aria-hidden size={13} />
          {warning}
        </p>
      ))}
      <p className={styles.links}>
        {action.index && (
          <>
            <Link to="/run/$kind/$" params={{ kind: "retriever", _splat: action.index.name }}>
              Search it
            </Link>
            <Link to="/stores/$" params={{ _splat: action.index.name }} search={{ source }}>
              Open the store
            </Link>
          </>
        )}
        {report.traces.slice(-1).map((id) => (
          <TraceLink key={id} traceId={id}>
            Last trace
          </TraceLink>
        ))}
      </p>
    </section>
  )
}
