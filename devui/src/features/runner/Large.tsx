/** A large output: its size and a download, and only on request the thing itself. */
import { Download } from "lucide-react"
import { useState } from "react"
import { JsonView } from "@/components/JsonView"
import { Button } from "@/components/ui/Button"
import { downloadText } from "@/lib/download"
import { bytes } from "@/lib/format"
import { jsonText } from "@/lib/json"
import { MediaView } from "./MediaView"
import { mediaOf } from "./output"
import { Rendered } from "./Rendered"
import styles from "./runner.module.css"

interface LargeProps {
  value: unknown
  size: number
  name: string
  json: boolean
}

/** Above this, markup is not rendered: it would hold the page for seconds. */
const MARKUP = 1_000_000

export function Large({ value, size, name, json }: LargeProps) {
  const [open, setOpen] = useState(false)
  const media = mediaOf(value)
  if (media !== undefined && !json) return <MediaView {...media} />
  const text = typeof value === "string"
  return (
    <div className={styles.large}>
      <p>
        The output has <strong>{bytes(size)}</strong>.
      </p>
      <div className={styles.row}>
        <Button
          size="s"
          icon={<Download aria-hidden />}
          onClick={() => downloadText(jsonText(value), `${name}.${text ? "txt" : "json"}`)}
        >
          Download
        </Button>
        {!open && (
          <Button size="s" variant="ghost" onClick={() => setOpen(true)}>
            Show it here
          </Button>
        )}
      </div>
      {open ? (
        json || !text ? (
          <JsonView value={value} expand={1} label="Output" />
        ) : size > MARKUP ? (
          <JsonView value={value} label="Output" />
        ) : (
          <Rendered value={value} />
        )
      ) : (
        text && <pre className={styles.beginning}>{`${(value as string).slice(0, 600)}…`}</pre>
      )}
    </div>
  )
}
