/** An output in the form that suits it: text with its markup, documents as cards, media by type, else its parts. */
import { JsonView } from "@/components/JsonView"
import { Markdown } from "@/components/Markdown"
import { Documents } from "../trace/details/Documents"
import { Messages } from "../trace/details/Messages"
import { MediaView } from "./MediaView"
import { mediaOf, shapeOf } from "./output"
import styles from "./runner.module.css"

export function Rendered({ value, depth = 0 }: { value: unknown; depth?: number }) {
  switch (shapeOf(value)) {
    case "nothing":
      return (
        <p className={styles.quiet}>
          {value === "" ? "An empty text." : depth > 0 ? <code>null</code> : "It gave nothing back (null)."}
        </p>
      )
    case "text":
      return <Markdown text={value as string} />
    case "messages":
      return <Messages value={value} hovered={undefined} />
    case "documents":
      return <Documents value={value} hovered={undefined} />
    case "media": {
      const media = mediaOf(value)
      return media === undefined ? null : <MediaView {...media} />
    }
    case "record":
      return depth > 0 ? (
        <JsonView value={value} expand={2} />
      ) : (
        <RecordView value={value as Record<string, unknown>} />
      )
    case "json":
      return <JsonView value={value} expand={depth > 0 ? 1 : 3} label="Output" />
  }
}

/** An object: each of its values under its name. */
function RecordView({ value }: { value: Record<string, unknown> }) {
  return (
    <dl className={styles.record}>
      {Object.entries(value).map(([key, item]) => (
        <div key={key} className={styles.entry}>
          <dt>{key}</dt>
          <dd>
            {typeof item === "number" || typeof item === "boolean" ? (
              <code>{String(item)}</code>
            ) : (
              <Rendered value={item} depth={1} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}
