/** The field for one place of the value, whatever its schema is. */
import type { ReactNode } from "react"
import { describe, type Field } from "./fields"
import { Group } from "./Group"
import { JsonField } from "./JsonField"
import { ListField } from "./ListField"
import { titleOf } from "./labels"
import { MapField } from "./MapField"
import { ChoiceField, ConstField, NumberField, SwitchField } from "./PlainFields"
import { Properties } from "./Properties"
import type { Place } from "./Row"
import type { Node } from "./schema"
import { TextField } from "./TextField"
import { UnionField } from "./UnionField"
import { fits, type Path } from "./values"

interface FieldViewProps {
  node: Node
  path: Path
  required: boolean
  value: unknown
  /** The key of the property; its title is the label. */
  name?: string | undefined
  label?: string | undefined
  bare?: boolean | undefined
  tools?: ReactNode
  /** What is around it has said what is wrong and what it is about. */
  silent?: boolean | undefined
}

export function FieldView({
  node,
  path,
  required,
  value: given,
  name,
  label,
  bare,
  tools,
  silent,
}: FieldViewProps) {
  const described = describe(node)
  const field: Field = silent === true ? { ...described, description: undefined } : described
  const place: Place = { path, required, bare, tools, label: label ?? titleOf(field, name) }
  // In a list, null stands for what is still missing.
  const value =
    given === null && !field.nullable && field.kind !== "null" && field.kind !== "json" ? undefined : given
  if (!fits(field, value))
    return <JsonField place={place} field={field} value={value} why="another type than expected" />
  switch (field.kind) {
    case "string":
      return <TextField place={place} field={field} value={value as string | null | undefined} />
    case "number":
      return <NumberField place={place} field={field} value={value as number | null | undefined} />
    case "boolean":
      return <SwitchField place={place} field={field} value={value as boolean | null | undefined} />
    case "choice":
      return <ChoiceField place={place} field={field} values={field.values} value={value} />
    case "const":
      if (!required || field.nullable)
        return <ChoiceField place={place} field={field} values={[field.value]} value={value} />
      return <ConstField place={place} field={field} value={field.value} />
    case "null":
      return <ConstField place={place} field={field} value={null} />
    case "array":
    case "tuple":
      return <ListField place={place} field={field} value={value as readonly unknown[] | null | undefined} />
    case "map":
      return (
        <MapField place={place} field={field} value={value as Record<string, unknown> | null | undefined} />
      )
    case "union":
      return <UnionField place={place} field={field} value={value} />
    case "object": {
      const absent = value === null || (value === undefined && (!required || field.nullable))
      return (
        <Group
          place={place}
          field={field}
          absent={absent}
          removable={!absent && (!required || field.nullable)}
        >
          {absent || (field.properties.length === 0 && Object.keys(value ?? {}).length === 0) ? undefined : (
            <Properties field={field} value={value} path={path} />
          )}
        </Group>
      )
    }
    case "json":
      return <JsonField place={place} field={field} value={value} why={field.why} />
  }
}
