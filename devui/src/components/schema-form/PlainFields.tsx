/** Numbers, switches, choices and constants. */
import { useEffect, useRef, useState } from "react"
import type { Field } from "./fields"
import { fieldId, useForm } from "./form"
import styles from "./form.module.css"
import { ClearButton, type Place, Problem, placeholder, plain, Row, useControl } from "./Row"
import { sameJson } from "./values"

export function NumberField({
  place,
  field,
  value,
}: {
  place: Place
  field: Field & { kind: "number" }
  value: number | string | null | undefined
}) {
  const form = useForm()
  const control = useControl(place, field)
  const [typed, setTyped] = useState(() => written(value))
  // What was typed stays as long as it means the value: `1.` on the way to `1.5`.
  const text = sameJson(meant(typed), value ?? undefined) ? typed : written(value)
  const change = (next: string) => {
    setTyped(next)
    form.edit(place.path, meant(next))
  }
  const step = (by: number) => {
    const from = typeof value === "number" ? value : typeof field.default === "number" ? field.default : 0
    const {
      minimum = Number.NEGATIVE_INFINITY,
      maximum = Number.POSITIVE_INFINITY,
      multipleOf = 1,
    } = field.schema
    change(written(Math.min(maximum, Math.max(minimum, from + by * multipleOf))))
  }
  return (
    <Row place={place} field={field} value={value} type={range(field)}>
      <input
        {...control}
        className={styles.input}
        value={text}
        placeholder={placeholder(field, value)}
        inputMode={field.integer ? "numeric" : "decimal"}
        autoComplete="off"
        onChange={(event) => change(event.target.value)}
        onKeyDown={(event) => {
          if (!field.integer || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return
          event.preventDefault()
          step(event.key === "ArrowUp" ? 1 : -1)
        }}
      />
    </Row>
  )
}

function written(value: unknown): string {
  return value === undefined || value === null ? "" : String(value)
}

/** A number, or the text as it is, which then is wrong; nothing is nothing. */
function meant(text: string): number | string | undefined {
  const bare = text.trim()
  if (bare === "") return undefined
  if (!/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(bare)) return text
  const found = Number(bare)
  // Digits that a browser would drop are kept as a text, which pydantic reads.
  return Number.isFinite(found) && (!/^[+-]?\d+$/.test(bare) || Number.isSafeInteger(found)) ? found : text
}

function range(field: Field & { kind: "number" }): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field.schema
  const type = field.integer ? "integer" : "number"
  const low = minimum ?? exclusiveMinimum
  const high = maximum ?? exclusiveMaximum
  const bounds =
    low !== undefined && high !== undefined
      ? `${exclusiveMinimum === undefined ? "" : "above "}${low} to ${exclusiveMaximum === undefined ? "" : "below "}${high}`
      : low !== undefined
        ? `${exclusiveMinimum === undefined ? "from" : "above"} ${low}`
        : high !== undefined
          ? `${exclusiveMaximum === undefined ? "up to" : "below"} ${high}`
          : undefined
  return [type, bounds, multipleOf === undefined ? undefined : `in steps of ${multipleOf}`]
    .filter(Boolean)
    .join(", ")
}

export function SwitchField({
  place,
  field,
  value,
}: {
  place: Place
  field: Field
  value: boolean | null | undefined
}) {
  const form = useForm()
  const control = useControl(place, field)
  const box = useRef<HTMLInputElement>(null)
  const byDefault = typeof field.default === "boolean" ? field.default : undefined
  const open = value === null || (value === undefined && byDefault === undefined && !place.required)
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = open
  }, [open])
  return (
    <div className={styles.field}>
      <div className={styles.line}>
        <label className={styles.switch}>
          <input
            {...control}
            ref={box}
            type="checkbox"
            checked={value ?? byDefault ?? false}
            onChange={(event) => form.edit(place.path, event.target.checked)}
          />
          <span className={place.bare ? styles.hidden : styles.label}>{place.label}</span>
        </label>
        <span className={styles.type}>
          {value === null ? "null" : value === undefined && !place.required ? stated(byDefault) : undefined}
        </span>
        <ClearButton place={place} field={field} value={value} />
        {place.tools}
      </div>
      {field.description !== undefined && !place.bare && (
        <p className={styles.hint} id={`${fieldId(form, place.path)}-hint`}>
          {field.description}
        </p>
      )}
      <Problem path={place.path} />
    </div>
  )
}

function stated(byDefault: boolean | undefined): string {
  return byDefault === undefined ? "not given" : byDefault ? "on by default" : "off by default"
}

export function ChoiceField({
  place,
  field,
  values,
  value,
}: {
  place: Place
  field: Field
  values: readonly unknown[]
  value: unknown
}) {
  const form = useForm()
  const control = useControl(place, field)
  const chosen = value === undefined || value === null ? -1 : values.findIndex((one) => sameJson(one, value))
  return (
    <Row place={place} field={field} value={value}>
      <select
        {...control}
        className={styles.select}
        value={chosen < 0 ? "" : String(chosen)}
        data-open={chosen < 0 || undefined}
        onChange={(event) =>
          form.edit(place.path, event.target.value === "" ? undefined : values[Number(event.target.value)])
        }
      >
        <option value="">{placeholder(field, value) || (place.required ? "Choose…" : "—")}</option>
        {values.map((one, index) => (
          <option key={plain(one)} value={String(index)}>
            {plain(one)}
          </option>
        ))}
      </select>
    </Row>
  )
}

/** It is what it is. */
export function ConstField({ place, field, value }: { place: Place; field: Field; value: unknown }) {
  const control = useControl(place, field)
  return (
    <Row place={{ ...place, required: true }} field={field} value={value}>
      <output id={control.id} aria-describedby={control["aria-describedby"]} className={styles.fixed}>
        {plain(value)}
      </output>
    </Row>
  )
}
