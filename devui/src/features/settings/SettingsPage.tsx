/** What this server has and knows: plugins, data, environment, versions; and how this browser shows it. */
import { useQuery } from "@tanstack/react-query"
import { settingsQuery } from "@/api/queries"
import { ShortcutList } from "@/components/ShortcutList"
import { applyTheme, type Theme, useTheme } from "@/components/theme"
import { CopyButton } from "@/components/ui/CopyButton"
import { Failure } from "@/components/ui/Failure"
import { PageHeader } from "@/components/ui/PageHeader"
import { Section } from "@/components/ui/Section"
import { Segmented } from "@/components/ui/Segmented"
import { Skeleton } from "@/components/ui/Skeleton"
import { DataTable } from "./DataTable"
import { Environment } from "./Environment"
import { Plugins } from "./Plugins"
import styles from "./SettingsPage.module.css"

const THEMES: readonly { value: Theme; label: string }[] = [
  { value: "system", label: "As the system" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
]

export function SettingsPage() {
  const { data, error, refetch } = useQuery({ ...settingsQuery, refetchOnMount: "always" })
  const theme = useTheme()
  return (
    <div className={styles.page}>
      <PageHeader
        title="Settings"
        lead={
          data && (
            <span className={styles.root}>
              <code>{data.root}</code>
              <CopyButton text={data.root} label="Copy path" />
            </span>
          )
        }
      />
      {data === undefined ? (
        error === null ? (
          <Skeleton lines={12} />
        ) : (
          <Failure error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <div className={styles.columns}>
          <div className={styles.column}>
            <Section title="Plugins of the app">
              <Plugins installed={data.plugins} />
            </Section>
            <Section title="Data">
              <DataTable data={data.data} retention={data.retention} />
            </Section>
            <Section title="Environment">
              <Environment names={data.environment} />
            </Section>
          </div>
          <div className={styles.column}>
            <Section title="Theme">
              <Segmented label="Theme" value={theme} onChange={applyTheme} items={THEMES} />
            </Section>
            <Section title="Versions">
              <dl className={styles.facts}>
                <dt>flowkit</dt>
                <dd>{data.versions.flowkit}</dd>
                <dt>Python</dt>
                <dd>{data.versions.python}</dd>
                <dt>Platform</dt>
                <dd>{data.versions.platform}</dd>
                {Object.entries(data.versions.packages).map(([name, version]) => (
                  <div key={name} className={styles.fact}>
                    <dt>{name}</dt>
                    <dd>{version}</dd>
                  </div>
                ))}
              </dl>
            </Section>
            <Section title="Keys">
              <ShortcutList />
            </Section>
          </div>
        </div>
      )}
    </div>
  )
}
