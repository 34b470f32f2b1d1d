/** The parts of a message: words, pictures, calls of tools and what they gave, data. */
import { Wrench } from "lucide-react"
import { JsonView } from "@/components/JsonView"
import { Markdown } from "@/components/Markdown"
import { bytes } from "@/lib/format"
import { isRecord } from "@/lib/json"
import { binary } from "@/lib/jsonTree"
import styles from "./ChatPage.module.css"
import type { Part } from "./tree"

export function Parts({ parts }: { parts: readonly Part[] }) {
  return parts.map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever added at the end
    <PartView key={at} part={part} />
  ))
}

function PartView({ part }: { part: Part }) {
  if (typeof part.text === "string") return <Markdown text={part.text} />
  if (typeof part.reasoning === "string")
    return (
      <details className={styles.reasoning}>
        <summary>Reasoning</summary>
        <Markdown text={part.reasoning} />
      </details>
    )
  if (isRecord(part.toolRequest))
    return <Tool word="calls" call={part.toolRequest} value={part.toolRequest.input} />
  if (isRecord(part.toolResponse))
    return <Tool word="gave" call={part.toolResponse} value={part.toolResponse.output} />
  if (isRecord(part.media)) return <Media media={part.media} />
  return <JsonView value={"data" in part ? part.data : part} label="Data" />
}

function Tool({ word, call, value }: { word: string; call: Record<string, unknown>; value: unknown }) {
  return (
    <div className={styles.tool}>
      <p>
        <Wrench size={13} aria-hidden /> <code>{String(call.name)}</code> {word}
      </p>
      <JsonView value={value} label={`${String(call.name)} ${word}`} />
    </div>
  )
}

function Media({ media }: { media: Record<string, unknown> }) {
  const url = String(media.url ?? "")
  if (/^data:image\/(png|jpeg|gif|webp);base64,/.test(url))
    return <img className={styles.picture} src={url} alt="Of the model" />
  const found = binary(url)
  return <p className={styles.quiet}>{found === undefined ? url : `${found.type}, ${bytes(found.bytes)}`}</p>
}
