/** The chunks, one on each line; only those that are seen are in the page. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { useRef, useState } from "react"
import { JsonView } from "@/components/JsonView"
import { useStickyEnd } from "@/components/useStickyEnd"
import { count } from "@/lib/format"
import styles from "./runner.module.css"

const ROW = 26

export function StreamView({ chunks }: { chunks: readonly unknown[] }) {
  const box = useRef<HTMLElement>(null)
  const [selected, setSelected] = useState<number>()
  const virtual = useVirtualizer({
    count: chunks.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 10,
  })
  const sticky = useStickyEnd(box, chunks)
  return (
    <div className={styles.chunks}>
      <p className={styles.quiet}>{count(chunks.length)} chunks</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard */}
      <section ref={box} className={styles.list} tabIndex={0} aria-label="Chunks" {...sticky}>
        <ol style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map(({ index, start }) => (
            <li key={index} className={styles.chunk} style={{ transform: `translateY(${start}px)` }}>
              <button
                type="button"
                aria-pressed={selected === index}
                onClick={() => setSelected(selected === index ? undefined : index)}
              >
                <span className={styles.number}>{index + 1}</span>
                <code>{(JSON.stringify(chunks[index]) ?? "").slice(0, 300)}</code>
              </button>
            </li>
          ))}
        </ol>
      </section>
      {selected !== undefined && selected < chunks.length && (
        <div className={styles.detail}>
          <JsonView value={chunks[selected]} expand={3} maxHeight={240} label={`Chunk ${selected + 1}`} />
        </div>
      )}
    </div>
  )
}
