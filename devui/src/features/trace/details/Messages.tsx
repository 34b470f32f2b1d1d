/** What was said to a model and by it. Parts that the hovered span made or answered are marked. */
import { JsonView } from "@/components/JsonView"
import { Markdown } from "@/components/Markdown"
import { classes } from "@/lib/classes"
import { documentsOf } from "@/lib/documents"
import { bytes } from "@/lib/format"
import type { Span } from "../model/span"
import { Documents } from "./Documents"
import styles from "./details.module.css"
import { type Message, messagesOf, type Part, restOf } from "./messages"

interface MessagesProps {
  value: unknown
  hovered: Span | undefined
}

export function Messages({ value, hovered }: MessagesProps) {
  const messages = messagesOf(value)
  const { docs, ...rest } = restOf(value)
  return (
    <div className={styles.messages}>
      <ol aria-label="Messages">
        {messages.map((message, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages are only ever read in their order
          <MessageCard key={at} message={message} hovered={hovered} />
        ))}
      </ol>
      {documentsOf(docs).length > 0 && (
        <section aria-label="Documents it was given">
          <h3 className={styles.role}>with documents</h3>
          <Documents value={docs} hovered={hovered} />
        </section>
      )}
      {Object.keys(rest).length > 0 && <JsonView value={rest} expand={1} label="Beside the messages" />}
    </div>
  )
}

function MessageCard({ message, hovered }: { message: Message; hovered: Span | undefined }) {
  return (
    <li className={styles.message} data-role={message.role}>
      <span className={styles.role}>{message.role}</span>
      <div className={styles.parts}>
        {message.parts.map((part, at) => {
          const pointed = isOf(part, hovered)
          return (
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever read in their order
              key={at}
              className={classes(styles.part, pointed && styles.pointed)}
              data-part={part.type}
              data-pointed={pointed || undefined}
            >
              <PartView part={part} />
            </div>
          )
        })}
      </div>
    </li>
  )
}

function PartView({ part }: { part: Part }) {
  switch (part.type) {
    case "text":
      return <Markdown text={part.text} />
    case "reasoning":
      return (
        <details>
          <summary className={styles.quiet}>Reasoning</summary>
          <p className={styles.plain}>{part.text}</p>
        </details>
      )
    case "toolRequest":
    case "toolResponse":
      return (
        <>
          <p className={styles.tool}>
            {part.type === "toolRequest" ? "calls" : "answer of"} <code>{part.name}</code>
          </p>
          <JsonView value={part.value ?? null} expand={2} label={`${part.type} ${part.name}`} />
        </>
      )
    case "media":
      return (
        <p className={styles.quiet}>
          {part.contentType ?? "media"} ·{" "}
          {part.url.startsWith("data:") ? bytes(part.url.length * 0.75) : part.url}
        </p>
      )
    case "other":
      return <JsonView value={part.value} expand={2} label="Part" />
  }
}

function isOf(part: Part, hovered: Span | undefined): boolean {
  if (hovered === undefined) return false
  if (part.type === "toolRequest" || part.type === "toolResponse") {
    return (
      hovered.kind?.startsWith("tool") === true &&
      (hovered.name === part.name || hovered.name.endsWith(`/${part.name}`))
    )
  }
  if (part.type !== "text" || hovered.kind !== "model") return false
  return messagesOf(hovered.output).some((message) =>
    message.parts.some((said) => said.type === "text" && said.text === part.text),
  )
}
