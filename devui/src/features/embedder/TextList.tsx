/** Texts, one a line. Enter adds one below, an empty one goes with Backspace, several lines are put in as several. */
import { Plus, X } from "lucide-react"
import { useEffect, useRef } from "react"
import { Button, IconButton } from "@/components/ui/Button"
import styles from "./EmbedderBench.module.css"
import { MOST, withLines } from "./texts"

export function TextList({ texts, onChange }: { texts: string[]; onChange: (texts: string[]) => void }) {
  const list = useRef<HTMLOListElement>(null)
  const goTo = useRef<number | undefined>(undefined)
  useEffect(() => {
    if (goTo.current === undefined) return
    list.current?.querySelectorAll("textarea")[goTo.current]?.focus()
    goTo.current = undefined
  })
  const add = (at: number) => {
    if (texts.length >= MOST) return
    goTo.current = at
    onChange([...texts.slice(0, at), "", ...texts.slice(at)])
  }
  const remove = (at: number) => {
    goTo.current = Math.max(0, at - 1)
    onChange(texts.filter((_, other) => other !== at))
  }
  return (
    <div className={styles.texts}>
      <div className={styles.textsHead}>
        <h2>Texts</h2>
        <span>
          {texts.length} / {MOST}
        </span>
      </div>
      <ol ref={list}>
        {texts.map((text, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the texts have no other name than their place
          <li key={at} className={styles.textRow}>
            <span className={styles.textNumber}>{at + 1}</span>
            <textarea
              rows={1}
              aria-label={`Text ${at + 1}`}
              value={text}
              placeholder={at === 0 ? "A text to embed" : "Another one"}
              onChange={(event) => onChange(withLines(texts, at, event.target.value))}
              onKeyDown={(event) => {
                if (event.ctrlKey || event.metaKey || event.nativeEvent.isComposing) return
                if (event.key === "Enter") {
                  event.preventDefault()
                  add(at + 1)
                } else if (event.key === "Backspace" && text === "" && texts.length > 1) {
                  event.preventDefault()
                  remove(at)
                }
              }}
            />
            <IconButton
              label={`Remove text ${at + 1}`}
              size="s"
              icon={<X aria-hidden />}
              disabled={texts.length === 1 && text === ""}
              onClick={() => remove(at)}
            />
          </li>
        ))}
      </ol>
      <Button
        size="s"
        variant="ghost"
        icon={<Plus aria-hidden />}
        disabled={texts.length >= MOST}
        onClick={() => add(texts.length)}
      >
        Add a text
      </Button>
    </div>
  )
}
