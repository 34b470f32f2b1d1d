/** One of a few, all of them seen: `<Segmented label="View" value={view} onChange={setView} items={…} />`. */
import { Toggle } from "@base-ui/react/toggle"
import { ToggleGroup } from "@base-ui/react/toggle-group"
import type { ReactNode } from "react"
import styles from "./Segmented.module.css"

interface SegmentedProps<Value extends string> {
  value: Value
  onChange: (value: Value) => void
  items: readonly { value: Value; label: string; icon?: ReactNode }[]
  label: string
}

export function Segmented<Value extends string>({ value, onChange, items, label }: SegmentedProps<Value>) {
  return (
    <ToggleGroup
      className={styles.group}
      aria-label={label}
      value={[value]}
      onValueChange={([chosen]) => {
        if (chosen !== undefined) onChange(chosen as Value)
      }}
    >
      {items.map((item) => (
        <Toggle key={item.value} value={item.value} className={styles.item}>
          {item.icon}
          {item.label}
        </Toggle>
      ))}
    </ToggleGroup>
  )
}
