/** Where something is written; copied with one click, for the editor. */

import styles from "./Source.module.css"
import { CopyButton } from "./ui/CopyButton"

interface SourceProps {
  file: string
  line?: number | null | undefined
}

export function Source({ file, line }: SourceProps) {
  const text = line === null || line === undefined ? file : `${file}:${line}`
  return (
    <span className={styles.source}>
      <code>{text}</code>
      <CopyButton text={text} label="Copy path" />
    </span>
  )
}
