/** Metadata as chips; a click narrows the filter to it, where there is one. */
import { chipsOf, type Metadata } from "@/lib/documents"
import { condition } from "@/lib/filterText"
import styles from "./documents.module.css"

export function Chips({ metadata, onFilter }: { metadata: Metadata; onFilter?: (term: string) => void }) {
  const chips = chipsOf(metadata)
  if (chips.length === 0) return null
  return (
    <ul className={styles.chips} aria-label="Metadata">
      {chips.map(([name, value]) => (
        <li key={name}>
          {onFilter === undefined ? (
            <span className={styles.chip}>
              <Words name={name} value={value} />
            </span>
          ) : (
            <button
              type="button"
              className={styles.chip}
              title={`Only documents with ${condition(name, "=", value)}`}
              onClick={() => onFilter(condition(name, "=", value))}
            >
              <Words name={name} value={value} />
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}

function Words({ name, value }: { name: string; value: string | number | boolean }) {
  const text = String(value)
  return (
    <>
      <span className={styles.chipName}>{name}</span> {text.length > 60 ? `${text.slice(0, 59)}…` : text}
    </>
  )
}
