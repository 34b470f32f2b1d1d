/** A line of text, or several, with its label, a hint and what is wrong with it. */
import { type HTMLInputTypeAttribute, type KeyboardEventHandler, type Ref, useId } from "react"
import { classes } from "@/lib/classes"
import styles from "./field.module.css"

interface TextFieldProps {
  label: string
  value: string
  onChange: (value: string) => void
  hint?: string | undefined
  error?: string | undefined
  type?: HTMLInputTypeAttribute | undefined
  multiline?: boolean | undefined
  rows?: number | undefined
  placeholder?: string | undefined
  disabled?: boolean | undefined
  /** The label is only its accessible name. */
  hideLabel?: boolean | undefined
  onKeyDown?: KeyboardEventHandler<HTMLInputElement | HTMLTextAreaElement> | undefined
  id?: string | undefined
  ref?: Ref<HTMLInputElement & HTMLTextAreaElement> | undefined
}

export function TextField({
  label,
  value,
  onChange,
  hint,
  error,
  type = "text",
  multiline = false,
  rows = 3,
  placeholder,
  disabled,
  hideLabel = false,
  onKeyDown,
  id: given,
  ref,
}: TextFieldProps) {
  const made = useId()
  const id = given ?? made
  const about = classes(hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`)
  const shared = {
    id,
    value,
    disabled,
    placeholder,
    onKeyDown,
    "aria-label": hideLabel ? label : undefined,
    "aria-invalid": error !== undefined,
    "aria-describedby": about === "" ? undefined : about,
  }
  return (
    <div className={styles.field}>
      {!hideLabel && (
        <label className={styles.label} htmlFor={id}>
          {label}
        </label>
      )}
      {multiline ? (
        <textarea
          {...shared}
          ref={ref}
          rows={rows}
          className={classes(styles.control, styles.area)}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input
          {...shared}
          ref={ref}
          type={type}
          className={styles.control}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} className={styles.hint}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className={styles.error}>
          {error}
        </p>
      )}
    </div>
  )
}
