import { duration } from "@/lib/format"

/** A span of time in figures of one width: `1.23 s`. */
export function Duration({ ms }: { ms: number | null | undefined }) {
  return <span style={{ fontVariantNumeric: "tabular-nums", whiteSpace: "nowrap" }}>{duration(ms)}</span>
}
