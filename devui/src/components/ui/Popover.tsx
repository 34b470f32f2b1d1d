/** Something that opens beside its button: `<Popover label="Filter" trigger={<Button>…</Button>}>…</Popover>`. */
import { Popover as Base } from "@base-ui/react/popover"
import type { ReactElement, ReactNode } from "react"
import { classes } from "@/lib/classes"
import styles from "./Popover.module.css"
import popup from "./popup.module.css"

interface PopoverProps {
  trigger: ReactElement
  label: string
  children: ReactNode
}

export function Popover({ trigger, label, children }: PopoverProps) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger as ReactElement<Record<string, unknown>>} />
      <Base.Portal>
        <Base.Positioner className={popup.positioner} sideOffset={6} align="end">
          <Base.Popup className={classes(popup.popup, styles.popover)} aria-label={label}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
