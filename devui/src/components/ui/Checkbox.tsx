/** Chosen or not, with its words beside it. */
import { Checkbox as Base } from "@base-ui/react/checkbox"
import { Check, Minus } from "lucide-react"
import { useId } from "react"
import styles from "./Checkbox.module.css"

interface CheckboxProps {
  checked: boolean
  onChange: (checked: boolean) => void
  label: string
  disabled?: boolean | undefined
  /** Some of what it stands for is chosen. */
  indeterminate?: boolean | undefined
  hideLabel?: boolean | undefined
  id?: string | undefined
}

export function Checkbox({
  checked,
  onChange,
  label,
  disabled = false,
  indeterminate = false,
  hideLabel = false,
  id,
}: CheckboxProps) {
  const labelId = useId()
  return (
    <span className={styles.pair}>
      <Base.Root
        className={styles.box}
        checked={checked}
        indeterminate={indeterminate}
        onCheckedChange={(now) => onChange(now)}
        disabled={disabled}
        id={id}
        aria-label={hideLabel ? label : undefined}
        aria-labelledby={hideLabel ? undefined : labelId}
      >
        <Base.Indicator className={styles.mark}>
          {indeterminate ? <Minus aria-hidden /> : <Check aria-hidden />}
        </Base.Indicator>
      </Base.Root>
      {!hideLabel && (
        // biome-ignore lint/a11y/noStaticElementInteractions: the box itself takes keys
        // biome-ignore lint/a11y/useKeyWithClickEvents: the box itself takes keys
        <span id={labelId} className={styles.label} onClick={() => !disabled && onChange(!checked)}>
          {label}
        </span>
      )}
    </span>
  )
}
