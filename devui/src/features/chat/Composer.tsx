/** Where one writes. Enter sends, Shift-Enter is a new line, Esc stops the answer. */
import { Send, Square } from "lucide-react"
import { type KeyboardEvent, useState } from "react"
import { Button } from "@/components/ui/Button"
import { Kbd } from "@/components/ui/Kbd"
import { TextField } from "@/components/ui/TextField"
import styles from "./ChatPage.module.css"

interface ComposerProps {
  running: boolean
  /** What was said last: the arrow up brings it back. */
  last: string | undefined
  onSend: (text: string) => void
  onCancel: () => void
}

export function Composer({ running, last, onSend, onCancel }: ComposerProps) {
  const [text, setText] = useState("")
  const send = () => {
    if (running || text.trim() === "") return
    onSend(text)
    setText("")
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === "Enter" && !event.shiftKey) send()
    else if (event.key === "Escape" && running) onCancel()
    else if (event.key === "ArrowUp" && text === "" && last !== undefined) setText(last)
    else return
    event.preventDefault()
  }
  return (
    <form
      className={styles.composer}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <TextField
        label="Message"
        hideLabel
        multiline
        rows={2}
        placeholder="Say something"
        value={text}
        onChange={setText}
        onKeyDown={onKeyDown}
      />
      <div className={styles.send}>
        <span className={styles.keys}>
          <Kbd keys="Enter" /> sends, <Kbd keys="Shift+Enter" /> is a new line
        </span>
        {running ? (
          <Button icon={<Square aria-hidden />} onClick={onCancel}>
            Stop
          </Button>
        ) : (
          <Button type="submit" variant="primary" icon={<Send aria-hidden />} disabled={text.trim() === ""}>
            Send
          </Button>
        )}
      </div>
    </form>
  )
}
