/** Shows what `toast()` tells. Once in the layout. */
import { Toast } from "@base-ui/react/toast"
import { CircleAlert, CircleCheck, Info, X } from "lucide-react"
import styles from "./Toaster.module.css"
import { toasts } from "./toast"

const ICONS = { ok: CircleCheck, error: CircleAlert, info: Info }

export function Toaster() {
  return (
    <Toast.Provider toastManager={toasts} limit={4}>
      <Toast.Portal>
        <Toast.Viewport className={styles.viewport}>
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function List() {
  const { toasts: shown } = Toast.useToastManager()
  return shown.map((item) => {
    const tone = (item.type ?? "info") as keyof typeof ICONS
    const Icon = ICONS[tone]
    return (
      <Toast.Root key={item.id} toast={item} className={styles.toast} swipeDirection={["right", "down"]}>
        <Icon className={styles[tone]} aria-hidden />
        <Toast.Content className={styles.content}>
          <Toast.Title className={styles.title} />
          <Toast.Description className={styles.text} />
        </Toast.Content>
        <Toast.Close className={styles.close} aria-label="Close">
          <X aria-hidden />
        </Toast.Close>
      </Toast.Root>
    )
  })
}
