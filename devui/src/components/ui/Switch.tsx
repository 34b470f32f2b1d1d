/** On or off, with its words beside it. */
import { Switch as Base } from "@base-ui/react/switch"
import { useId } from "react"
import styles from "./Switch.module.css"

interface SwitchProps {
  checked: boolean
  onChange: (checked: boolean) => void
  label: string
  disabled?: boolean | undefined
  hideLabel?: boolean | undefined
}

export function Switch({ checked, onChange, label, disabled = false, hideLabel = false }: SwitchProps) {
  const id = useId()
  return (
    <span className={styles.pair}>
      <Base.Root
        className={styles.switch}
        checked={checked}
        onCheckedChange={(now) => onChange(now)}
        disabled={disabled}
        aria-label={hideLabel ? label : undefined}
        aria-labelledby={hideLabel ? undefined : id}
      >
        <Base.Thumb className={styles.thumb} />
      </Base.Root>
      {!hideLabel && (
        // biome-ignore lint/a11y/noStaticElementInteractions: the switch itself takes keys
        // biome-ignore lint/a11y/useKeyWithClickEvents: the switch itself takes keys
        <span id={id} className={styles.label} onClick={() => !disabled && onChange(!checked)}>
          {label}
        </span>
      )}
    </span>
  )
}
