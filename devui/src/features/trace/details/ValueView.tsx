/** An input or output in the form that suits it: messages, documents, text, else a tree. Big ones are loaded when wished. */
import { Download } from "lucide-react"
import { JsonView } from "@/components/JsonView"
import { Button } from "@/components/ui/Button"
import { CopyButton } from "@/components/ui/CopyButton"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { Segmented } from "@/components/ui/Segmented"
import { Skeleton } from "@/components/ui/Skeleton"
import { documentsOf } from "@/lib/documents"
import { bytes } from "@/lib/format"
import { jsonText } from "@/lib/json"
import type { Span } from "../model/span"
import { Documents } from "./Documents"
import styles from "./details.module.css"
import { Messages } from "./Messages"
import { messagesOf } from "./messages"
import { type Field, useValue, valueUrl } from "./useValue"

interface ValueViewProps {
  traceId: string
  span: Span
  field: Field
  hovered: Span | undefined
  json: boolean
  onJson: (json: boolean) => void
}

const WITH_DOCUMENTS = new Set(["retriever", "reranker", "indexer"])
const SHORT_TEXT = 20_000

export function ValueView({ traceId, span, field, hovered, json, onJson }: ValueViewProps) {
  const value = useValue(traceId, span, field)
  const size = span[`${field}Bytes`]
  switch (value.state) {
    case "none":
      return <Nothing span={span} field={field} />
    case "loading":
      return <Skeleton lines={6} />
    case "failed":
      return <Failure error={value.error} onRetry={value.retry} />
    case "big":
      return (
        <div className={styles.big}>
          <p>
            The {field} has <strong>{bytes(size)}</strong>.
          </p>
          <div className={styles.row}>
            <Button size="s" onClick={value.load}>
              Show it here
            </Button>
            <DownloadLink traceId={traceId} span={span} field={field} />
          </div>
        </div>
      )
    case "value": {
      const form = formOf(span, value.value)
      return (
        <div className={styles.value}>
          <div className={styles.bar}>
            {form !== "json" && (
              <Segmented
                label={`Form of the ${field}`}
                value={json ? "json" : "shown"}
                onChange={(chosen) => onJson(chosen === "json")}
                items={[
                  { value: "shown", label: NAMES[form] },
                  { value: "json", label: "JSON" },
                ]}
              />
            )}
            <span className={styles.grow} />
            <span className={styles.quiet}>{bytes(size)}</span>
            <CopyButton text={() => jsonText(value.value)} label={`Copy ${field}`} />
            {size > 10_000 && <DownloadLink traceId={traceId} span={span} field={field} />}
          </div>
          {json || form === "json" ? (
            <JsonView value={value.value} expand={3} label={field === "input" ? "Input" : "Output"} />
          ) : form === "messages" ? (
            <Messages value={value.value} hovered={hovered} />
          ) : form === "documents" ? (
            <Documents value={value.value} hovered={hovered} />
          ) : (
            <p className={styles.text}>{String(value.value)}</p>
          )}
        </div>
      )
    }
  }
}

const NAMES = { messages: "Messages", documents: "Documents", text: "Text", json: "JSON" } as const

function formOf(span: Span, value: unknown): keyof typeof NAMES {
  if (typeof value === "string" && value.length <= SHORT_TEXT) return "text"
  if (messagesOf(value).length > 0) return "messages"
  if (WITH_DOCUMENTS.has(span.kind ?? "") && documentsOf(value).length > 0) return "documents"
  return "json"
}

function Nothing({ span, field }: { span: Span; field: Field }) {
  if (span.valuesDropped)
    return (
      <Empty
        title={`The ${field} was not kept`}
        text="More was traced than could be written; values were left out."
      />
    )
  if (field === "input") return <Empty title="It was called without an input" />
  if (span.end === undefined) return <Empty title="No output yet" />
  if (span.state !== "success") return <Empty title="No output: it did not end well" />
  return <Empty title="It gave nothing back" />
}

function DownloadLink({ traceId, span, field }: { traceId: string; span: Span; field: Field }) {
  return (
    <a
      className={styles.download}
      href={valueUrl(traceId, span.id, field)}
      download={`${span.name}-${field}.json`}
    >
      <Download size={13} aria-hidden /> Download
    </a>
  )
}
