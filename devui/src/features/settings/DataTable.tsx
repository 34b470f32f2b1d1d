/** What is kept on disk, how much, and for how long. */
import type { Retention, StoredData } from "@/api/schema"
import table from "@/components/ui/table.module.css"
import { bytes, count } from "@/lib/format"
import styles from "./SettingsPage.module.css"

export function DataTable({ data, retention }: { data: readonly StoredData[]; retention: Retention }) {
  return (
    <>
      <table className={table.table}>
        <thead>
          <tr>
            <th>What</th>
            <th>Where</th>
            <th className={table.num}>Count</th>
            <th className={table.num}>Size</th>
          </tr>
        </thead>
        <tbody>
          {data.map((stored) => (
            <tr key={stored.name} className={table.row}>
              <td>{stored.name}</td>
              <td className={styles.path}>
                <code>{stored.path}</code>
              </td>
              <td className={table.num}>{count(stored.count)}</td>
              <td className={table.num}>
                {stored.name === "logs" ? "with traces" : bytes(stored.sizeBytes)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className={styles.quiet}>
        Kept: {count(retention.maxTraces)} traces, {count(retention.maxLogs)} log records,{" "}
        {bytes(retention.maxBytes)} in all. The oldest goes first.
      </p>
    </>
  )
}
