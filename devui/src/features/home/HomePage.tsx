/** How everything stands: the app, what it can do, what has run. */
import { useQuery } from "@tanstack/react-query"
import { actionsQuery } from "@/api/queries"
import { LinkButton } from "@/components/ui/Button"
import { Failure } from "@/components/ui/Failure"
import { PageHeader } from "@/components/ui/PageHeader"
import { Section } from "@/components/ui/Section"
import { Skeleton } from "@/components/ui/Skeleton"
import { StaleNote } from "@/components/ui/StaleNote"
import { countKinds, withoutTwins } from "@/lib/kinds"
import { FailedRuns } from "./FailedRuns"
import styles from "./HomePage.module.css"
import { KindCounts } from "./KindCounts"
import { LastRuns } from "./LastRuns"
import { QuickStart } from "./QuickStart"
import { StatusStrip } from "./StatusStrip"

export function HomePage() {
  const actions = useQuery(actionsQuery)
  // What every app has (`/util/generate`) is none of its own.
  const none = actions.data?.actions.every((action) => action.kind === "util") ?? false
  return (
    <div className={styles.page}>
      <PageHeader
        title="Home"
        lead={actions.data?.stale && <StaleNote text="The actions are those of the app's last run" />}
      />
      <StatusStrip />
      {none ? (
        <QuickStart />
      ) : (
        <div className={styles.columns}>
          <div className={styles.main}>
            <Section
              title="Last runs"
              actions={
                <LinkButton to="/traces" search={{}} size="s" variant="ghost">
                  All traces
                </LinkButton>
              }
            >
              <LastRuns />
            </Section>
            <FailedRuns />
          </div>
          <Section
            title="Actions"
            actions={
              <LinkButton to="/actions" search={{}} size="s" variant="ghost">
                All actions
              </LinkButton>
            }
          >
            {actions.isError ? (
              <Failure error={actions.error} onRetry={() => void actions.refetch()} />
            ) : actions.data === undefined ? (
              <Skeleton lines={6} />
            ) : (
              <KindCounts counts={countKinds(withoutTwins(actions.data.actions))} />
            )}
          </Section>
        </div>
      )}
    </div>
  )
}
