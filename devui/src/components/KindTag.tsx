/** A kind: its sign and its name, in its colour. */
import { kindColor, shownKind } from "@/lib/kinds"
import { KindIcon } from "./KindIcon"
import styles from "./KindTag.module.css"

interface KindTagProps {
  kind: string | null | undefined
  size?: "s" | "m" | undefined
}

export function KindTag({ kind, size = "s" }: KindTagProps) {
  const shown = shownKind(kind)
  return (
    <span
      className={styles.tag}
      data-kind={kind ?? "other"}
      data-size={size}
      style={{ color: kindColor(kind) }}
    >
      <KindIcon kind={kind} size={size === "s" ? 13 : 15} />
      {shown}
    </span>
  )
}
