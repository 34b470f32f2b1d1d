/** A number between two bounds, with the number beside it. */
import { Slider as Base } from "@base-ui/react/slider"
import styles from "./Slider.module.css"

interface SliderProps {
  value: number
  onChange: (value: number) => void
  min: number
  max: number
  step?: number | undefined
  label: string
  disabled?: boolean | undefined
  hideLabel?: boolean | undefined
}

export function Slider({
  value,
  onChange,
  min,
  max,
  step = 1,
  label,
  disabled = false,
  hideLabel = false,
}: SliderProps) {
  return (
    <Base.Root
      className={styles.slider}
      value={value}
      onValueChange={(now) => onChange(now as number)}
      min={min}
      max={max}
      step={step}
      disabled={disabled}
      format={{ maximumFractionDigits: 6 }}
      locale="en-US"
    >
      {!hideLabel && <span className={styles.label}>{label}</span>}
      <Base.Control className={styles.control}>
        <Base.Track className={styles.track}>
          <Base.Indicator className={styles.indicator} />
          <Base.Thumb className={styles.thumb} aria-label={label} />
        </Base.Track>
      </Base.Control>
      <Base.Value className={styles.value} />
    </Base.Root>
  )
}
