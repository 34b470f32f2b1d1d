/** The sizes of chunks in their order: a bar for each. */
import type { ChunkData } from "@/api/schema"
import styles from "./ChunkView.module.css"

const HEIGHT = 36

type ChunkProfileProps = {
  chunks: readonly ChunkData[]
  chosen: number | undefined
  onChoose: (index: number) => void
}

export function ChunkProfile({ chunks, chosen, onChoose }: ChunkProfileProps) {
  const most = Math.max(1, ...chunks.map((chunk) => chunk.tokens))
  return (
    <svg
      className={styles.profile}
      viewBox={`0 0 ${Math.max(24, chunks.length)} ${HEIGHT}`}
      preserveAspectRatio="none"
      height={HEIGHT}
      role="img"
      aria-label={`Tokens of each chunk, at most ${most}`}
    >
      {chunks.map((chunk, at) => {
        const height = (chunk.tokens / most) * HEIGHT
        const shared = ((chunk.overlap?.tokens ?? 0) / most) * HEIGHT
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: the same choice is in text and table, for keys
          <g key={chunk.index} onClick={() => onChoose(at)} data-chosen={chosen === at || undefined}>
            <title>{`Chunk ${at}: ${chunk.tokens} tokens`}</title>
            <rect x={at} y={0} width={1} height={HEIGHT} className={styles.catch} />
            <rect x={at + 0.08} y={HEIGHT - height} width={0.84} height={height} className={styles.size} />
            <rect x={at + 0.08} y={HEIGHT - shared} width={0.84} height={shared} className={styles.shared} />
          </g>
        )
      })}
    </svg>
  )
}
