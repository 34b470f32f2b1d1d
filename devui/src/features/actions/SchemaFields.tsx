/** A schema as a list of fields, and as it is in JSON. */
import { useState } from "react"
import { JsonView } from "@/components/JsonView"
import { Segmented } from "@/components/ui/Segmented"
import { properties, typeText } from "@/lib/typeText"
import styles from "./ActionsPage.module.css"

export function SchemaFields({ schema, label }: { schema: unknown; label: string }) {
  const [view, setView] = useState<"fields" | "json">("fields")
  if (schema === undefined || schema === null) return <p className={styles.nothing}>It names no schema.</p>
  const fields = properties(schema)
  return (
    <div className={styles.schema}>
      <div className={styles.pick}>
        <code>{typeText(schema)}</code>
        <Segmented
          label={`View of ${label}`}
          value={view}
          onChange={setView}
          items={[
            { value: "fields", label: "Fields" },
            { value: "json", label: "JSON" },
          ]}
        />
      </div>
      {view === "json" ? (
        <div className={styles.json}>
          <JsonView value={schema} label={`Schema of ${label}`} />
        </div>
      ) : fields.length === 0 ? (
        <p className={styles.nothing}>One value, without fields.</p>
      ) : (
        <ul className={styles.fields}>
          {fields.map((field) => (
            <li key={field.path} style={{ paddingLeft: field.depth * 14 }}>
              <span className={styles.field}>
                <code>{field.name}</code>
                {field.required && <span className={styles.needed}>required</span>}
                <code className={styles.type}>{field.type}</code>
              </span>
              {(field.about !== "" || field.limits !== "") && (
                <p className={styles.hint}>{[field.about, field.limits].filter(Boolean).join(" · ")}</p>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
