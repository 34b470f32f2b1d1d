/** A number; empty is `undefined`. What is typed is kept as it is typed, and only numbers are handed on. */
import { NumberField as Base } from "@base-ui/react/number-field"
import { ChevronDown, ChevronUp } from "lucide-react"
import { useId } from "react"
import { classes } from "@/lib/classes"
import field from "./field.module.css"
import styles from "./NumberField.module.css"

interface NumberFieldProps {
  label: string
  value: number | undefined
  onChange: (value: number | undefined) => void
  min?: number | undefined
  max?: number | undefined
  step?: number | undefined
  error?: string | undefined
  hint?: string | undefined
  placeholder?: string | undefined
  disabled?: boolean | undefined
  hideLabel?: boolean | undefined
  id?: string | undefined
}

export function NumberField({
  label,
  value,
  onChange,
  min,
  max,
  step = 1,
  error,
  hint,
  placeholder,
  disabled = false,
  hideLabel = false,
  id: given,
}: NumberFieldProps) {
  const made = useId()
  const id = given ?? made
  const about = classes(hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`)
  return (
    <div className={field.field}>
      {!hideLabel && (
        <label className={field.label} htmlFor={id}>
          {label}
        </label>
      )}
      <Base.Root
        id={id}
        value={value ?? null}
        onValueChange={(now) => onChange(now ?? undefined)}
        min={min}
        max={max}
        step={step}
        disabled={disabled}
        allowOutOfRange
        format={{ useGrouping: false, maximumFractionDigits: 12 }}
        locale="en-US"
      >
        <Base.Group className={classes(field.control, styles.group)}>
          <Base.Input
            className={styles.input}
            placeholder={placeholder}
            aria-label={hideLabel ? label : undefined}
            aria-invalid={error !== undefined}
            aria-describedby={about === "" ? undefined : about}
          />
          <span className={styles.steps}>
            <Base.Increment className={styles.step} tabIndex={-1} aria-label={`More ${label}`}>
              <ChevronUp aria-hidden />
            </Base.Increment>
            <Base.Decrement className={styles.step} tabIndex={-1} aria-label={`Less ${label}`}>
              <ChevronDown aria-hidden />
            </Base.Decrement>
          </span>
        </Base.Group>
      </Base.Root>
      {hint !== undefined && (
        <p id={`${id}-hint`} className={field.hint}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className={field.error}>
          {error}
        </p>
      )}
    </div>
  )
}
