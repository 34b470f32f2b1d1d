/** One of several shapes: which, and then its own fields. What was given for another shape comes back with it. */
import { useRef, useState } from "react"
import { FieldView } from "./FieldView"
import { describe, type Field } from "./fields"
import { fieldId, useForm } from "./form"
import styles from "./form.module.css"
import { Group } from "./Group"
import { Properties } from "./Properties"
import type { Place } from "./Row"
import { fits, optionOf, startOption } from "./values"

export function UnionField({
  place,
  field,
  value,
}: {
  place: Place
  field: Field & { kind: "union" }
  value: unknown
}) {
  const form = useForm()
  const kept = useRef<Map<number, unknown>>(new Map())
  const [picked, setPicked] = useState<number>()
  const fitting = picked !== undefined && value !== null && fits(optionField(field, picked), value)
  const index = value === null ? -1 : fitting ? picked : optionOf(field, value)
  const option = field.options[index]
  const pick = (next: number) => {
    if (value !== undefined && value !== null && index >= 0) kept.current.set(index, value)
    const chosen = field.options[next]
    setPicked(chosen === undefined ? undefined : next)
    const empty = place.required && field.nullable ? null : undefined
    form.edit(place.path, chosen === undefined ? empty : (kept.current.get(next) ?? startOption(chosen)))
  }
  const inner = option === undefined ? undefined : describe(option.node)
  const open = inner?.kind === "object" && fits(inner, value)
  const id = fieldId(form, place.path)
  const wrong = form.problem(place.path) !== undefined
  return (
    <Group
      place={place}
      field={field}
      quiet={inner !== undefined && !open}
      actions={
        <select
          className={styles.picker}
          aria-label={`Type of ${place.label}`}
          aria-invalid={(wrong && inner === undefined) || undefined}
          aria-describedby={wrong ? `${id}-problem` : undefined}
          disabled={form.disabled}
          value={index < 0 ? "" : String(index)}
          onChange={(event) => pick(event.target.value === "" ? -1 : Number(event.target.value))}
        >
          <option value="">{none(field, value, place.required)}</option>
          {field.options.map(({ label }, at) => (
            <option key={label} value={String(at)}>
              {label}
            </option>
          ))}
        </select>
      }
    >
      {option === undefined || inner === undefined ? undefined : inner.kind === "object" &&
        fits(inner, value) ? (
        <Properties key={index} field={inner} value={value} path={place.path} hidden={option.tag?.property} />
      ) : (
        <FieldView
          key={index}
          node={option.node}
          label={place.label}
          path={place.path}
          required
          bare
          value={value}
          silent
        />
      )}
    </Group>
  )
}

function optionField(field: Field & { kind: "union" }, index: number): Field {
  const option = field.options[index]
  return option === undefined ? field : describe(option.node)
}

function none(field: Field, value: unknown, required: boolean): string {
  if (value === null) return "null"
  if (field.hasDefault && field.default !== null) return `default: ${JSON.stringify(field.default)}`
  return required ? "Choose…" : "—"
}
