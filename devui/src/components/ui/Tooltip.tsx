/** A word about a control, shown when it is pointed at or has the focus. Never the only place where something is said. */
import { Tooltip as Base } from "@base-ui/react/tooltip"
import type { ReactElement } from "react"
import styles from "./Tooltip.module.css"

export function Tooltip({ text, children }: { text: string; children: ReactElement }) {
  return (
    <Base.Root>
      <Base.Trigger render={children as ReactElement<Record<string, unknown>>} delay={400} />
      <Base.Portal>
        <Base.Positioner className={styles.positioner} sideOffset={6}>
          <Base.Popup className={styles.popup}>{text}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
