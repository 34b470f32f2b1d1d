/** One of many, found by typing: `<Combobox label="Index" value={index} onChange={setIndex} items={…} />`. */
import { Combobox as Base } from "@base-ui/react/combobox"
import { Check, ChevronsUpDown } from "lucide-react"
import { classes } from "@/lib/classes"
import styles from "./Combobox.module.css"
import field from "./field.module.css"
import popup from "./popup.module.css"

interface Option {
  value: string
  label: string
  hint?: string | undefined
}

interface ComboboxProps {
  value: string | undefined
  onChange: (value: string) => void
  items: readonly Option[]
  label: string
  placeholder?: string | undefined
  showLabel?: boolean | undefined
  disabled?: boolean | undefined
}

export function Combobox({
  value,
  onChange,
  items,
  label,
  placeholder,
  showLabel = false,
  disabled = false,
}: ComboboxProps) {
  const chosen = items.find((item) => item.value === value) ?? null
  return (
    <div className={field.field}>
      <Base.Root
        items={items as Option[]}
        value={chosen}
        onValueChange={(now) => {
          if (now !== null) onChange(now.value)
        }}
        isItemEqualToValue={(a, b) => a.value === b.value}
        disabled={disabled}
        autoHighlight
      >
        {showLabel && <Base.Label className={field.label}>{label}</Base.Label>}
        <Base.InputGroup className={classes(field.control, styles.group)}>
          <Base.Input
            className={styles.input}
            placeholder={placeholder}
            aria-label={showLabel ? undefined : label}
          />
          <Base.Trigger className={styles.trigger} aria-label={`Show choices of ${label}`}>
            <ChevronsUpDown aria-hidden />
          </Base.Trigger>
        </Base.InputGroup>
        <Base.Portal>
          <Base.Positioner className={popup.positioner} sideOffset={4}>
            <Base.Popup className={classes(popup.popup, styles.popup)}>
              <Base.Empty className={popup.none}>Nothing is called so</Base.Empty>
              <Base.List className={popup.list}>
                {(item: Option) => (
                  <Base.Item key={item.value} value={item} className={popup.item}>
                    <span className={popup.check}>
                      <Base.ItemIndicator>
                        <Check aria-hidden />
                      </Base.ItemIndicator>
                    </span>
                    <span className={popup.itemText}>{item.label}</span>
                    {item.hint !== undefined && <span className={popup.hint}>{item.hint}</span>}
                  </Base.Item>
                )}
              </Base.List>
            </Base.Popup>
          </Base.Positioner>
        </Base.Portal>
      </Base.Root>
    </div>
  )
}
