/** What has been streamed so far, as one text where the chunks are text. Only its last block is rendered anew. */
import { memo, useMemo, useRef } from "react"
import { Markdown } from "@/components/Markdown"
import { useStickyEnd } from "@/components/useStickyEnd"
import { blocksOf, streamedText } from "./output"
import styles from "./runner.module.css"

interface StreamedOutputProps {
  chunks: readonly unknown[]
  running: boolean
  json: boolean
}

const Block = memo(Markdown)

/** A text of this length is shown plainly while it still grows. */
const PLAIN = 200_000
/** The last block, too, when it is this long: it would be parsed again with each frame. */
const LONG_BLOCK = 4_000

export function StreamedOutput({ chunks, running, json }: StreamedOutputProps) {
  const box = useRef<HTMLElement>(null)
  const sticky = useStickyEnd(box, chunks)
  const text = useMemo(() => (json ? undefined : streamedText(chunks)), [chunks, json])
  return (
    <section
      ref={box}
      className={styles.scroll}
      data-part="stream"
      aria-label="Stream"
      aria-busy={running}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard
      tabIndex={0}
      {...sticky}
    >
      {chunks.length === 0 ? (
        running && <p className={styles.waiting}>Running…</p>
      ) : text === undefined ? (
        <ChunkLines chunks={chunks} />
      ) : (
        <GrowingText text={text} />
      )}
    </section>
  )
}

function GrowingText({ text }: { text: string }) {
  const blocks = useMemo(() => (text.length > PLAIN ? [text] : blocksOf(text)), [text])
  return blocks.map((block, at) =>
    block.length > LONG_BLOCK && at === blocks.length - 1 ? (
      <p key="end" className={styles.plain}>
        {block}
      </p>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: blocks only grow at the end
      <Block key={at} text={block} />
    ),
  )
}

const LINES = 500

/** The end of them; all are in the view "Stream". */
function ChunkLines({ chunks }: { chunks: readonly unknown[] }) {
  const first = Math.max(0, chunks.length - LINES)
  return (
    <ol className={styles.lines}>
      {chunks.slice(first).map((chunk, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: chunks only come at the end
        <li key={first + at}>
          <code>{JSON.stringify(chunk)?.slice(0, 500)}</code>
        </li>
      ))}
    </ol>
  )
}
