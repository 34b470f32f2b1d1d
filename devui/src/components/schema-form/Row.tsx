/** A label, its control, a hint and what is wrong: how each plain field looks. */
import { X } from "lucide-react"
import type { ReactNode } from "react"
import { IconButton } from "@/components/ui/Button"
import { classes } from "@/lib/classes"
import type { Field } from "./fields"
import { fieldId, useForm } from "./form"
import styles from "./form.module.css"
import type { Path } from "./values"

/** What a place of the form is given by what holds it. */
export interface Place {
  readonly path: Path
  readonly label: string
  readonly required: boolean
  /** The label is said by what is around it, and is there for those who cannot see that. */
  readonly bare?: boolean | undefined
  /** Buttons of what holds it: moving and removing a row. */
  readonly tools?: ReactNode
}

/** Attributes of the control, so that label, hint and message belong to it. */
interface ControlProps {
  readonly id: string
  readonly disabled: boolean
  readonly "aria-required": true | undefined
  readonly "aria-invalid": true | undefined
  readonly "aria-describedby": string | undefined
}

export function useControl(place: Place, field: Field): ControlProps {
  const form = useForm()
  const id = fieldId(form, place.path)
  const wrong = form.problem(place.path) !== undefined
  const about = [wrong && `${id}-problem`, field.description !== undefined && !place.bare && `${id}-hint`]
  return {
    id,
    disabled: form.disabled,
    "aria-required": place.required || undefined,
    "aria-invalid": wrong || undefined,
    "aria-describedby": about.filter(Boolean).join(" ") || undefined,
  }
}

interface RowProps {
  place: Place
  field: Field
  value: unknown
  children: ReactNode
  /** `integer, 1 to 10` */
  type?: string | undefined
  extra?: ReactNode
}

export function Row({ place, field, value, children, type, extra }: RowProps) {
  const form = useForm()
  const id = fieldId(form, place.path)
  const { path, label, bare = false } = place
  return (
    <div className={styles.field}>
      <div className={classes(styles.head, bare && styles.hidden)}>
        <label htmlFor={id} className={styles.label}>
          {label}
        </label>
        {place.required && <Star />}
        <span className={styles.type}>{type}</span>
        <NullButton place={place} field={field} value={value} />
      </div>
      <div className={styles.line}>
        {children}
        {extra}
        <ClearButton place={place} field={field} value={value} />
        {place.tools}
      </div>
      {field.description !== undefined && !bare && (
        <p className={styles.hint} id={`${id}-hint`}>
          {field.description}
        </p>
      )}
      <Problem path={path} />
    </div>
  )
}

export function Star() {
  return (
    <span className={styles.star} aria-hidden title="Required">
      *
    </span>
  )
}

export function Problem({ path }: { path: Path }) {
  const form = useForm()
  const message = form.problem(path)
  if (message === undefined) return null
  return (
    <p className={styles.problem} id={`${fieldId(form, path)}-problem`}>
      {message}
    </p>
  )
}

/** What is given can be left out again; what must be there, but may be null, becomes null. */
export function ClearButton({ place, field, value }: { place: Place; field: Field; value: unknown }) {
  const form = useForm()
  const cleared = place.required ? (field.nullable ? null : undefined) : undefined
  if (place.bare && place.tools !== undefined && !field.nullable) return null
  if (value === undefined || value === cleared || (place.required && !field.nullable)) return null
  return (
    <IconButton
      label={`Clear ${place.label}`}
      size="s"
      icon={<X aria-hidden />}
      disabled={form.disabled}
      onClick={() => form.edit(place.path, cleared)}
    />
  )
}

/** Where leaving it out means something else than null, null can be said. */
function NullButton({ place, field, value }: { place: Place; field: Field; value: unknown }) {
  const form = useForm()
  if (!field.nullable || value === null || !field.hasDefault || field.default === null) return null
  return (
    <button
      type="button"
      className={styles.null}
      disabled={form.disabled}
      aria-label={`Set ${place.label} to null`}
      onClick={() => form.edit(place.path, null)}
    >
      null
    </button>
  )
}

/** What one sees where nothing is given. */
export function placeholder(field: Field, value: unknown): string {
  if (value === null) return "null"
  if (field.hasDefault && field.default !== null && field.default !== undefined) return plain(field.default)
  const [example] = field.examples
  return example === undefined || example === null ? "" : `e.g. ${plain(example)}`
}

export function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}
