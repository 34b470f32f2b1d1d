/** One row of a JsonView. */
import { ChevronRight } from "lucide-react"
import { useState } from "react"
import { bytes } from "@/lib/format"
import { jsonText } from "@/lib/json"
import { binary, type JsonRow, preview } from "@/lib/jsonTree"
import styles from "./JsonView.module.css"
import { CopyButton } from "./ui/CopyButton"

interface JsonLineProps {
  row: JsonRow
  tabIndex: number
  onTurn: () => void
  onFocus: () => void
}

export function JsonLine({ row, tabIndex, onTurn, onFocus }: JsonLineProps) {
  const parts = row.size !== undefined && row.size > 0
  return (
    <div
      className={styles.line}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-expanded={parts ? row.open : undefined}
      aria-selected={tabIndex === 0}
      tabIndex={tabIndex}
      data-pointer={row.pointer}
      style={{ paddingLeft: Math.min(row.depth, 12) * 14 }}
      onFocus={onFocus}
    >
      {parts ? (
        <button
          type="button"
          className={styles.turn}
          tabIndex={-1}
          aria-label={row.open ? "Close" : "Open"}
          onClick={onTurn}
        >
          <ChevronRight data-open={row.open} aria-hidden />
        </button>
      ) : (
        <span className={styles.turn} />
      )}
      <span className={styles.content}>
        {row.name !== undefined && (
          <span className={row.inList ? styles.place : styles.name}>{row.name}: </span>
        )}
        <Value row={row} />
      </span>
      <span className={styles.copy}>
        {row.path !== "" && <CopyButton text={row.path} label="Copy path" />}
        <CopyButton text={() => jsonText(row.value)} label="Copy value" />
      </span>
    </div>
  )
}

function Value({ row }: { row: JsonRow }) {
  const { value } = row
  if (row.size !== undefined)
    return <span className={styles.preview}>{row.open ? sign(value, row.size) : preview(value)}</span>
  if (typeof value === "string") return <Text text={value} />
  if (typeof value === "number") return <span className={styles.number}>{String(value)}</span>
  return <span className={styles.word}>{value === undefined ? "—" : String(value)}</span>
}

function sign(value: unknown, size: number): string {
  return Array.isArray(value) ? `[${size}]` : `{${size}}`
}

/** Above 2 kB, the beginning is enough at first. */
const LONG = 2000

function Text({ text }: { text: string }) {
  const [whole, setWhole] = useState(false)
  const found = binary(text)
  if (found !== undefined)
    return (
      <span className={styles.binary}>
        {found.type}, {bytes(found.bytes)}
      </span>
    )
  const long = text.length > LONG
  return (
    <span className={styles.text}>
      "{long && !whole ? text.slice(0, LONG) : text}
      {long && !whole ? "…" : ""}"
      {long && (
        <button type="button" className={styles.more} tabIndex={-1} onClick={() => setWhole(!whole)}>
          {whole ? "Show less" : `Show all ${bytes(text.length)}`}
        </button>
      )}
    </span>
  )
}
