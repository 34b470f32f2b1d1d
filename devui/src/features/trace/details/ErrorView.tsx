/** Why a span failed: type and message, then the traceback with the frames of libraries folded, and what caused it. */
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { settingsQuery } from "@/api/queries"
import { CopyButton } from "@/components/ui/CopyButton"
import { plural } from "@/lib/format"
import type { SpanError } from "../model/span"
import { type Frame, folded, type Raised, tracebackOf } from "../model/traceback"
import styles from "./details.module.css"

const LINKS = { cause: "caused by", during: "while handling" }

export function ErrorView({ error }: { error: SpanError }) {
  const chain = tracebackOf(error.stack).toReversed()
  const root = useQuery(settingsQuery).data?.root
  return (
    <div className={styles.error}>
      <div className={styles.errorHead}>
        <p className={styles.errorType}>{error.type || "Error"}</p>
        <span className={styles.grow} />
        {error.stack !== "" && <CopyButton text={error.stack} label="Copy traceback" />}
      </div>
      <p className={styles.errorMessage}>{error.message}</p>
      {chain.map((raised, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the chain is only ever read in its order
        <RaisedView key={at} raised={raised} link={chain[at - 1]?.link} first={at === 0} root={root} />
      ))}
      {chain.length === 0 && error.stack !== "" && <pre className={styles.stack}>{error.stack}</pre>}
    </div>
  )
}

interface RaisedProps {
  raised: Raised
  link: Raised["link"]
  first: boolean
  root: string | undefined
}

function RaisedView({ raised, link, first, root }: RaisedProps) {
  return (
    <section className={styles.raised}>
      {!first && (
        <h3 className={styles.cause}>
          {link === undefined ? "before that" : LINKS[link]} <code>{raised.message}</code>
        </h3>
      )}
      <ol className={styles.frames} aria-label="Traceback, most recent call last">
        {folded(raised.frames).map((group, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: frames are only ever read in their order
          <Group key={at} {...group} root={root} />
        ))}
      </ol>
    </section>
  )
}

function Group({
  library,
  frames,
  root,
}: {
  library: boolean
  frames: readonly Frame[]
  root: string | undefined
}) {
  const [open, setOpen] = useState(false)
  if (library && !open) {
    return (
      <li>
        <button type="button" className={styles.fold} aria-expanded={false} onClick={() => setOpen(true)}>
          {plural(frames.length, "frame")} of libraries
        </button>
      </li>
    )
  }
  return frames.map((frame, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: frames are only ever read in their order
    <li key={at} className={styles.frame} data-library={library}>
      <p className={styles.where}>
        <code>
          {shortened(frame.file, root)}:{frame.line}
        </code>{" "}
        in {frame.function}
      </p>
      {frame.code.length > 0 && <pre className={styles.code}>{dedented(frame.code)}</pre>}
    </li>
  ))
}

function shortened(file: string, root: string | undefined): string {
  if (root !== undefined && file.startsWith(`${root}/`)) return file.slice(root.length + 1)
  return file.replace(/^.*[\\/]site-packages[\\/]/, "")
}

function dedented(lines: readonly string[]): string {
  const least = Math.min(...lines.map((line) => line.length - line.trimStart().length))
  return lines.map((line) => line.slice(least)).join("\n")
}
