/** The last runs that failed, with their reason. Nothing when there is none. */
import { Link } from "@tanstack/react-router"
import { KindIcon } from "@/components/KindIcon"
import { TimeAgo } from "@/components/TimeAgo"
import { LinkButton } from "@/components/ui/Button"
import { Section } from "@/components/ui/Section"
import table from "@/components/ui/table.module.css"
import styles from "./HomePage.module.css"
import { useRecent } from "./useRecent"

export function FailedRuns() {
  const { data } = useRecent({ limit: 5, status: "error" })
  if (data === undefined || data.traces.length === 0) return null
  return (
    <Section
      title="Failed"
      actions={
        <LinkButton to="/traces" search={{ status: "error" }} size="s" variant="ghost">
          All that failed
        </LinkButton>
      }
    >
      <table className={table.table} aria-label="Failed">
        <tbody>
          {data.traces.map((trace) => (
            <tr key={trace.traceId} className={table.row}>
              <td>
                <span className={styles.name}>
                  <KindIcon kind={trace.kind} labelled />
                  <Link to="/traces/$id" params={{ id: trace.traceId }} search={{}}>
                    {trace.name}
                  </Link>
                </span>
              </td>
              <td className={styles.error} title={trace.error ?? undefined}>
                {trace.error ?? "It failed and left no message"}
              </td>
              <td className={table.num}>
                <TimeAgo ms={trace.startTimeMs} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  )
}
