/** One of several: `<Select label="Kind" value={kind} onChange={setKind} items={[{ value: "flow", label: "flow" }]} />`. */
import { Select as Base } from "@base-ui/react/select"
import { Check, ChevronsUpDown } from "lucide-react"
import { classes } from "@/lib/classes"
import field from "./field.module.css"
import popup from "./popup.module.css"
import styles from "./Select.module.css"

interface Choice<Value extends string = string> {
  value: Value
  label: string
}

interface SelectProps<Value extends string> {
  /** A value that is none of the items shows the placeholder. */
  value: Value | "" | undefined
  onChange: (value: Value) => void
  items: readonly Choice<Value>[]
  label: string
  placeholder?: string | undefined
  /** The label is seen, not only the accessible name. */
  showLabel?: boolean | undefined
  disabled?: boolean | undefined
  id?: string | undefined
  invalid?: boolean | undefined
}

export function Select<Value extends string>({
  value,
  onChange,
  items,
  label,
  placeholder = "Choose…",
  showLabel = false,
  disabled = false,
  id,
  invalid,
}: SelectProps<Value>) {
  const chosen = items.some((item) => item.value === value) ? (value as Value) : null
  return (
    <div className={field.field}>
      <Base.Root
        items={items as Choice<Value>[]}
        value={chosen}
        onValueChange={(now) => {
          if (now !== null) onChange(now as Value)
        }}
        disabled={disabled}
      >
        {showLabel && <Base.Label className={field.label}>{label}</Base.Label>}
        <Base.Trigger
          className={classes(field.control, styles.trigger)}
          aria-label={showLabel ? undefined : label}
          aria-invalid={invalid}
          id={id}
        >
          <Base.Value className={styles.value} placeholder={placeholder} />
          <Base.Icon className={styles.icon}>
            <ChevronsUpDown aria-hidden />
          </Base.Icon>
        </Base.Trigger>
        <Base.Portal>
          <Base.Positioner className={popup.positioner} sideOffset={4} alignItemWithTrigger={false}>
            <Base.Popup className={classes(popup.popup, styles.popup)}>
              <Base.List className={popup.list}>
                {items.map((item) => (
                  <Base.Item key={item.value} value={item.value} className={popup.item}>
                    <span className={popup.check}>
                      <Base.ItemIndicator>
                        <Check aria-hidden />
                      </Base.ItemIndicator>
                    </span>
                    <Base.ItemText className={popup.itemText}>{item.label}</Base.ItemText>
                  </Base.Item>
                ))}
              </Base.List>
            </Base.Popup>
          </Base.Positioner>
        </Base.Portal>
      </Base.Root>
    </div>
  )
}
