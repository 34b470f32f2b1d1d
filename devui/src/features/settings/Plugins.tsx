/** The plugins that the app uses: the names of the environment that they read, and whether what is behind them answers. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { CircleCheck, CircleX, Puzzle } from "lucide-react"
import { api, ask } from "@/api/client"
import { keys } from "@/api/queries"
import type { PluginCheck, PluginData, PluginInfo } from "@/api/schema"
import { Button } from "@/components/ui/Button"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { Skeleton } from "@/components/ui/Skeleton"
import { duration } from "@/lib/format"
import { SetBadge } from "./Environment"
import styles from "./SettingsPage.module.css"

export function Plugins({ installed }: { installed: readonly PluginInfo[] }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...keys.runtimes, "plugins"],
    queryFn: ({ signal }) => ask(api.GET("/api/plugins", { signal })),
  })
  const used = new Set(data?.plugins.map((plugin) => plugin.package))
  const others = installed.filter((plugin) => !used.has(plugin.package))
  return (
    <>
      {error !== null && data === undefined ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton lines={3} />
      ) : data.plugins.length === 0 ? (
        <Empty
          icon={<Puzzle aria-hidden />}
          title="The app uses no plugin"
          text="Flowkit(plugins=[…]) names them."
        />
      ) : (
        <ul className={styles.plugins}>
          {data.plugins.map((plugin) => (
            <Plugin key={plugin.id} plugin={plugin} />
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <p className={styles.quiet}>
          Installed, not used by this app:{" "}
          {others.map((plugin) => `${plugin.package} ${plugin.version}`).join(", ")}
        </p>
      )}
    </>
  )
}

function Plugin({ plugin }: { plugin: PluginData }) {
  const check = useMutation({
    mutationFn: () => ask(api.POST("/api/plugins/check", { body: { id: plugin.id } })),
  })
  return (
    <li className={styles.plugin}>
      <div className={styles.row}>
        <span className={styles.name}>{plugin.id}</span>
        <span className={styles.quiet}>
          {plugin.package ? `${plugin.package} ${plugin.version ?? ""}` : "of the app itself"}
        </span>
        {plugin.checks && (
          <Button
            size="s"
            busy={check.isPending}
            onClick={() => check.mutate()}
            aria-label={`Test ${plugin.id}`}
          >
            Test
          </Button>
        )}
      </div>
      {plugin.environment && plugin.environment.length > 0 && (
        <div className={styles.names}>
          {plugin.environment.map((variable) => (
            <span key={variable.name} className={styles.variable}>
              <code>{variable.name}</code>
              <SetBadge set={variable.set} />
            </span>
          ))}
        </div>
      )}
      {check.isError ? (
        <Failure error={check.error} />
      ) : (
        check.data !== undefined && <Told check={check.data} />
      )}
    </li>
  )
}

function Told({ check }: { check: PluginCheck }) {
  const Icon = check.ok ? CircleCheck : CircleX
  return (
    <p className={styles.told} data-ok={check.ok} role="status">
      <Icon aria-hidden />
      <span>
        {check.message}
        {check.hint && <span className={styles.quiet}> {check.hint}</span>}
      </span>
      <span className={styles.quiet}>{duration(check.durationMs)}</span>
    </p>
  )
}
