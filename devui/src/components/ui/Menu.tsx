/** A list of things to do behind a button: `<Menu label="More" trigger={<IconButton … />} items={[…]} />`. */
import { Menu as Base } from "@base-ui/react/menu"
import type { ReactElement, ReactNode } from "react"
import { classes } from "@/lib/classes"
import popup from "./popup.module.css"

export interface MenuItem {
  label: string
  icon?: ReactNode
  hint?: string | undefined
  onSelect: () => void
  danger?: boolean | undefined
  disabled?: boolean | undefined
}

interface MenuProps {
  label: string
  trigger: ReactElement
  items: readonly MenuItem[]
}

export function Menu({ label, trigger, items }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger as ReactElement<Record<string, unknown>>} />
      <Base.Portal>
        <Base.Positioner className={popup.positioner} sideOffset={4} align="end">
          <Base.Popup className={classes(popup.popup, popup.list)} aria-label={label}>
            {items.map((item) => (
              <Base.Item
                key={item.label}
                className={classes(popup.item, item.danger === true && popup.danger)}
                disabled={item.disabled ?? false}
                onClick={item.onSelect}
              >
                {item.icon}
                <span className={popup.itemText}>{item.label}</span>
                {item.hint !== undefined && <span className={popup.hint}>{item.hint}</span>}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
