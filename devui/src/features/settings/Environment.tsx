/** Names that the environment sets, or does not. Their values are never told. */
import type { Variable } from "@/api/schema"
import { Badge } from "@/components/ui/Badge"
import styles from "./SettingsPage.module.css"

export function Environment({ names }: { names: readonly Variable[] }) {
  const sorted = [...names].sort(
    (a, b) => Number(b.set) - Number(a.set) || a.name.localeCompare(b.name, "en"),
  )
  return (
    <>
      <ul className={styles.environment}>
        {sorted.map((variable) => (
          <li key={variable.name} className={styles.variable}>
            <code>{variable.name}</code>
            <SetBadge set={variable.set} />
          </li>
        ))}
      </ul>
      <p className={styles.quiet}>Only names are known here; no value leaves the app's process.</p>
    </>
  )
}

export function SetBadge({ set }: { set: boolean }) {
  return <Badge tone={set ? "ok" : "neutral"}>{set ? "set" : "unset"}</Badge>
}
