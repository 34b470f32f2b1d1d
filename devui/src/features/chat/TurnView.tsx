/** One turn: what was said, which can be said differently, and the answer. */
import { ChevronLeft, ChevronRight, Pencil, RotateCw } from "lucide-react"
import { useState } from "react"
import { StatusTag } from "@/components/StatusTag"
import { TraceLink } from "@/components/TraceLink"
import { Button, IconButton } from "@/components/ui/Button"
import { CopyButton } from "@/components/ui/CopyButton"
import { TextField } from "@/components/ui/TextField"
import { count, duration } from "@/lib/format"
import { textOfParts } from "@/lib/json"
import styles from "./ChatPage.module.css"
import { Parts } from "./Parts"
import type { Reply, Turn } from "./tree"

interface TurnViewProps {
  turn: Turn
  branches: readonly Turn[]
  busy: boolean
  onPick: (turn: Turn) => void
  /** Say this in the turn's place, as a branch. */
  onSend: (text: string) => void
}

export function TurnView({ turn, branches, busy, onPick, onSend }: TurnViewProps) {
  const [edited, setEdited] = useState<string>()
  return (
    <li className={styles.turn}>
      <article className={styles.user} aria-label="user">
        <header className={styles.role}>
          <span>user</span>
          <Branches turn={turn} branches={branches} onPick={onPick} />
          <span className={styles.tools}>
            <IconButton
              label="Edit and send again"
              size="s"
              icon={<Pencil aria-hidden />}
              disabled={busy}
              onClick={() => setEdited(turn.text)}
            />
            <CopyButton text={turn.text} label="Copy message" />
          </span>
        </header>
        {edited === undefined ? (
          <p className={styles.said}>{turn.text}</p>
        ) : (
          <form
            className={styles.edit}
            onSubmit={(event) => {
              event.preventDefault()
              if (edited.trim() === "") return
              onSend(edited)
              setEdited(undefined)
            }}
          >
            <TextField label="Edited message" hideLabel multiline value={edited} onChange={setEdited} />
            <div className={styles.row}>
              <Button type="submit" variant="primary" size="s" disabled={busy || edited.trim() === ""}>
                Send as a branch
              </Button>
              <Button size="s" onClick={() => setEdited(undefined)}>
                Keep as it is
              </Button>
            </div>
          </form>
        )}
      </article>
      <article className={styles.model} aria-label="model" aria-busy={turn.reply.status === "running"}>
        <header className={styles.role}>
          <span>model</span>
          {turn.reply.status !== "success" && <StatusTag status={turn.reply.status} />}
          <span className={styles.tools}>
            <IconButton
              label="Answer again"
              size="s"
              icon={<RotateCw aria-hidden />}
              disabled={busy}
              onClick={() => onSend(turn.text)}
            />
            <CopyButton text={textOfParts(turn.reply.parts)} label="Copy answer" />
          </span>
        </header>
        <Parts parts={turn.reply.parts} />
        {turn.reply.error !== undefined && (
          <div className={styles.error} role="alert">
            <p>{turn.reply.error.message}</p>
            {turn.reply.error.hint !== undefined && <p className={styles.quiet}>{turn.reply.error.hint}</p>}
          </div>
        )}
        <Facts reply={turn.reply} />
      </article>
    </li>
  )
}

function Branches({ turn, branches, onPick }: Pick<TurnViewProps, "turn" | "branches" | "onPick">) {
  if (branches.length < 2) return null
  const at = branches.findIndex((one) => one.id === turn.id)
  const [earlier, later] = [branches[at - 1], branches[at + 1]]
  return (
    <span className={styles.branches}>
      <IconButton
        label="Earlier branch"
        size="s"
        icon={<ChevronLeft aria-hidden />}
        disabled={earlier === undefined}
        onClick={() => earlier && onPick(earlier)}
      />
      <span>
        Branch {at + 1} of {branches.length}
      </span>
      <IconButton
        label="Later branch"
        size="s"
        icon={<ChevronRight aria-hidden />}
        disabled={later === undefined}
        onClick={() => later && onPick(later)}
      />
    </span>
  )
}

function Facts({ reply }: { reply: Reply }) {
  if (reply.status === "running") return null
  const { usage, latencyMs, finishReason, traceId } = reply
  return (
    <footer className={styles.facts}>
      {usage?.inputTokens !== undefined && <span>{count(usage.inputTokens)} tokens in</span>}
      {usage?.outputTokens !== undefined && <span>{count(usage.outputTokens)} tokens out</span>}
      {latencyMs !== undefined && <span>{duration(latencyMs)}</span>}
      {finishReason !== undefined && finishReason !== "stop" && <span>ended: {finishReason}</span>}
      {traceId !== undefined && <TraceLink traceId={traceId}>Trace</TraceLink>}
    </footer>
  )
}
