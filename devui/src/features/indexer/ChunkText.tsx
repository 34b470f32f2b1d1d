/** The source text with its chunks as bands of two colours in turn; what two chunks share is striped. */
import { useEffect, useMemo, useRef, useState } from "react"
import type { SplitPreviewData } from "@/api/schema"
import { Button } from "@/components/ui/Button"
import { plural } from "@/lib/format"
import { bands } from "./bands"
import styles from "./ChunkView.module.css"
import { marksOf } from "./material"

const STEP = 200

type ChunkTextProps = {
  preview: SplitPreviewData
  chosen: number | undefined
  onChoose: (index: number) => void
}

export function ChunkText({ preview, chosen, onChoose }: ChunkTextProps) {
  const [shown, setShown] = useState(STEP)
  const box = useRef<HTMLDivElement>(null)
  const cut = useMemo(() => bands(preview.text, preview.chunks), [preview])
  const marks = useMemo(() => marksOf(preview.chunks), [preview])
  const some = cut.filter((band) => (band.chunks.at(-1) ?? 0) < shown)

  useEffect(() => {
    if (chosen === undefined) return
    box.current?.querySelector(`[data-begins="${chosen}"]`)?.scrollIntoView({ block: "nearest" })
  }, [chosen])

  let before = -1
  return (
    <div>
      <ul className={styles.legend} aria-hidden>
        <li data-tone="a">even chunks</li>
        <li data-tone="b">odd chunks</li>
        <li data-tone="both">in two chunks</li>
      </ul>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <section ref={box} className={styles.text} aria-label="Text with its chunks" tabIndex={0}>
        {some.map((band) => {
          const last = band.chunks.at(-1)
          const begins = last !== undefined && last > before ? last : undefined
          if (begins !== undefined) before = begins
          const kind = band.chunks.length === 0 ? "gap" : band.chunks.length > 1 ? "overlap" : "chunk"
          return (
            <span key={band.start}>
              {begins !== undefined && (
                <>
                  {marks[begins] !== undefined && <span className={styles.page}>{marks[begins]}</span>}
                  <button
                    type="button"
                    className={styles.border}
                    data-begins={begins}
                    aria-label={`Chunk ${begins}, ${preview.chunks[begins]?.tokens} tokens`}
                    aria-pressed={chosen === begins}
                    onClick={() => onChoose(begins)}
                  >
                    {begins}
                  </button>
                </>
              )}
              <span
                className={styles.band}
                data-band={kind}
                data-tone={
                  kind === "overlap" ? "both" : last === undefined ? undefined : last % 2 ? "b" : "a"
                }
                data-chosen={(chosen !== undefined && band.chunks.includes(chosen)) || undefined}
                title={kind === "overlap" ? `In chunks ${band.chunks.join(" and ")}` : undefined}
              >
                {band.text}
              </span>
            </span>
          )
        })}
      </section>
      {shown < preview.chunks.length && (
        <Button variant="ghost" onClick={() => setShown(shown + STEP)}>
          Show {plural(Math.min(STEP, preview.chunks.length - shown), "more chunk")}
        </Button>
      )}
    </div>
  )
}
