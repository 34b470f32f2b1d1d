/** A window over the page. Esc and a click beside it close it; the focus goes back to where it was. */
import { Dialog as Base } from "@base-ui/react/dialog"
import { X } from "lucide-react"
import type { ReactNode } from "react"
import { classes } from "@/lib/classes"
import { IconButton } from "./Button"
import styles from "./Dialog.module.css"

interface DialogProps {
  open: boolean
  onClose: () => void
  title: string
  description?: ReactNode
  footer?: ReactNode
  size?: "m" | "l" | undefined
  children?: ReactNode
}

export function Dialog({ open, onClose, title, description, footer, size = "m", children }: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(now) => !now && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup className={classes(styles.dialog, size === "l" && styles.large)}>
          <div className={styles.head}>
            <Base.Title className={styles.title}>{title}</Base.Title>
            <Base.Close render={<IconButton label="Close" size="s" icon={<X aria-hidden />} />} />
          </div>
          {description !== undefined && (
            <Base.Description className={styles.description} render={<div />}>
              {description}
            </Base.Description>
          )}
          <div className={styles.body}>{children}</div>
          {footer !== undefined && <div className={styles.footer}>{footer}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
