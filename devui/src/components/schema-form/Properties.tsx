/** The fields of an object. */

import { isRecord } from "@/lib/json"
import { FieldView } from "./FieldView"
import type { Field } from "./fields"
import type { Place } from "./Row"
import { child } from "./schema"
import { getAt } from "./values"

/** The properties, and keys that the schema does not know but the value has. */
export function Properties({
  field,
  value,
  path,
  hidden,
}: {
  field: Field & { kind: "object" }
  value: unknown
  path: Place["path"]
  /** The tag of a union, which its picker shows. */
  hidden?: string | undefined
}) {
  const known = new Set(field.properties.map(({ key }) => key))
  const others = isRecord(value) ? Object.keys(value).filter((key) => !known.has(key)) : []
  return (
    <>
      {field.properties
        .filter(({ key }) => key !== hidden)
        .map(({ key, node, required }) => (
          <FieldView
            key={key}
            name={key}
            node={node}
            path={[...path, key]}
            required={required}
            value={getAt(value, [key])}
          />
        ))}
      {others.map((key) => (
        <FieldView
          key={key}
          label={key}
          node={field.extra ?? child(field.node, true)}
          path={[...path, key]}
          required={false}
          value={getAt(value, [key])}
        />
      ))}
    </>
  )
}
