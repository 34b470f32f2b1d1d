/** The kinds that are there, with how many actions each has. */
import { KindTag } from "@/components/KindTag"
import { sortKinds } from "@/lib/kinds"
import styles from "./ActionsPage.module.css"

interface KindFilterProps {
  counts: Record<string, number>
  kind: string | undefined
  onChange: (kind: string | undefined) => void
}

export function KindFilter({ counts, kind, onChange }: KindFilterProps) {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a list everywhere
    <div className={styles.kinds} role="group" aria-label="Kinds">
      <button
        type="button"
        className={styles.kind}
        aria-pressed={kind === undefined}
        onClick={() => onChange(undefined)}
      >
        All kinds
        <span className={styles.count}>{all}</span>
      </button>
      {sortKinds(Object.keys(counts)).map((one) => (
        <button
          key={one}
          type="button"
          className={styles.kind}
          aria-pressed={kind === one}
          onClick={() => onChange(kind === one ? undefined : one)}
        >
          <KindTag kind={one} size="m" />
          <span className={styles.count}>{counts[one]}</span>
        </button>
      ))}
    </div>
  )
}
