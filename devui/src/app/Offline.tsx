/** The dev server does not answer. What was loaded stays; it is tried again until it does. */
import { Unplug } from "lucide-react"
import { retryNow, useLive } from "@/api/live"
import { Button } from "@/components/ui/Button"
import styles from "./Banner.module.css"

export function Offline() {
  const { state } = useLive()
  if (state !== "closed") return null
  return (
    <div className={styles.banner} data-tone="error" role="alert">
      <Unplug aria-hidden />
      <p className={styles.text}>
        <strong>Disconnected.</strong> <code>flowkit start</code> does not answer. What you see was loaded
        before; this page goes on by itself when it runs again.
      </p>
      <Button size="s" onClick={retryNow}>
        Try now
      </Button>
    </div>
  )
}
