/**
 * The app does not run: why, with the traceback, over the page. What was typed in the page below is still there when a fix
 * has been saved.
 */
import { CircleX, FileWarning } from "lucide-react"
import { useState } from "react"
import { useLive } from "@/api/live"
import type { AppError, AppState } from "@/api/schema"
import { Source } from "@/components/Source"
import { Button } from "@/components/ui/Button"
import { CopyButton } from "@/components/ui/CopyButton"
import styles from "./AppNews.module.css"

export function AppNews() {
  const { state, app } = useLive()
  const [hidden, setHidden] = useState<string>()
  if (state !== "open" || app === undefined) return null
  if (app.state === "ended")
    return <Strip text="The app has ended by itself. A change of its files starts it again." />
  if (app.state !== "failed") return null
  const id = `${app.startedAt} ${app.error?.message}`
  if (hidden === id)
    return <Strip text={app.error?.message ?? "The app failed"} onOpen={() => setHidden(undefined)} />
  return <Overlay app={app} error={app.error ?? undefined} onHide={() => setHidden(id)} />
}

function Strip({ text, onOpen }: { text: string; onOpen?: () => void }) {
  return (
    <div className={styles.strip} role="alert">
      <CircleX aria-hidden />
      <p>{text}</p>
      {onOpen !== undefined && (
        <Button size="s" onClick={onOpen}>
          Show why
        </Button>
      )}
    </div>
  )
}

function Overlay({ app, error, onHide }: { app: AppState; error: AppError | undefined; onHide: () => void }) {
  return (
    <section className={styles.overlay} role="alert" aria-label="The app does not run">
      <div className={styles.head}>
        <FileWarning aria-hidden />
        <div className={styles.words}>
          <h2>The app does not run</h2>
          <p className={styles.message}>{error?.message ?? "It failed and left no message."}</p>
        </div>
        <Button size="s" onClick={onHide}>
          Look at the page
        </Button>
      </div>
      <div className={styles.where}>
        {error?.file && <Source file={error.file} line={error.line} />}
        <span className={styles.next}>
          {app.retrySeconds
            ? `It is started again in ${Math.ceil(app.retrySeconds)} s, or when a file changes.`
            : "Save a fix, and this goes away."}
        </span>
        {error?.traceback && <CopyButton text={error.traceback} label="Copy traceback" words />}
      </div>
      {error?.traceback && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: long tracebacks are scrolled by keys
        <pre className={styles.traceback} tabIndex={0}>
          {error.traceback}
        </pre>
      )}
    </section>
  )
}
