/** The app's code has changed and it runs again: what is new. Goes by itself. */
import { RotateCw, X } from "lucide-react"
import { useEffect, useRef, useState } from "react"
import { useEvents } from "@/api/live"
import { IconButton } from "@/components/ui/Button"
import styles from "./Banner.module.css"
import { type Changes, reloadText } from "./reload"

const SHOWN_MS = 8_000
/** After a reload, so long is waited for what has changed. */
const QUIET_MS = 2_500
const NOTHING: Changes = { added: [], removed: [], changed: [] }

export function Reloaded() {
  const [news, setNews] = useState<Changes>()
  const restarts = useRef<number>(undefined)
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined)

  useEvents("app", ({ app }) => {
    if (app?.state !== "running") return
    const before = restarts.current
    restarts.current = app.restarts
    if (before === undefined || app.restarts <= before) return
    clearTimeout(waiting.current)
    waiting.current = setTimeout(() => setNews(NOTHING), QUIET_MS)
  })
  useEvents("hello", ({ app }) => {
    restarts.current = app?.restarts ?? 0
  })
  useEvents("actions", ({ added, removed, changed }) => {
    clearTimeout(waiting.current)
    setNews({ added: added ?? [], removed: removed ?? [], changed: changed ?? [] })
  })
  useEffect(() => {
    if (news === undefined) return
    const timer = setTimeout(() => setNews(undefined), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [news])

  return (
    <div role="status">
      {news !== undefined && (
        <div className={styles.banner}>
          <RotateCw aria-hidden />
          <p className={styles.text}>{reloadText(news)}</p>
          <IconButton label="Dismiss" size="s" icon={<X aria-hidden />} onClick={() => setNews(undefined)} />
        </div>
      )}
    </div>
  )
}
