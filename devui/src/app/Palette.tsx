/** Everything by typing its name: actions, traces, pages, commands. Ctrl/Cmd-K. */
import { Dialog } from "@base-ui/react/dialog"
import { Search } from "lucide-react"
import { type KeyboardEvent, useId, useRef, useState } from "react"
import { Kbd } from "@/components/ui/Kbd"
import { classes } from "@/lib/classes"
import styles from "./Palette.module.css"
import { type Entry, usePalette } from "./usePalette"

interface PaletteProps {
  open: boolean
  onClose: () => void
  onSheet: () => void
}

export function Palette({ open, onClose, onSheet }: PaletteProps) {
  return (
    <Dialog.Root open={open} onOpenChange={(now) => !now && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup className={styles.palette} aria-label="Search or run a command">
          <Body onClose={onClose} onSheet={onSheet} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Body({ onClose, onSheet }: Omit<PaletteProps, "open">) {
  const [typed, setTyped] = useState("")
  const [at, setAt] = useState(0)
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const entries = usePalette(typed, { onSheet })
  const chosen = Math.min(at, entries.length - 1)

  const go = (place: number) => {
    const now = (place + entries.length) % Math.max(1, entries.length)
    setAt(now)
    list.current?.querySelector(`[data-at="${now}"]`)?.scrollIntoView({ block: "nearest" })
  }
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return
    onClose()
    entry.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === "ArrowDown") go(chosen + 1)
    else if (event.key === "ArrowUp") go(chosen - 1)
    else if (event.key === "Enter") run(entries[chosen])
    else return
    event.preventDefault()
  }

  return (
    <>
      <div className={styles.field}>
        <Search aria-hidden />
        <input
          className={styles.input}
          role="combobox"
          aria-label="Search or run a command"
          aria-expanded={entries.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={entries.length > 0 ? `${id}-${chosen}` : undefined}
          aria-autocomplete="list"
          placeholder="An action, a trace id, a page or a command"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value)
            setAt(0)
            list.current?.scrollTo(0, 0)
          }}
          onKeyDown={onKeyDown}
        />
        <Kbd keys="Escape" />
      </div>
      <div ref={list} id={`${id}-list`} className={styles.list} role="listbox" aria-label="Found">
        {entries.map((entry, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are taken by the field
          <div
            key={entry.id}
            id={`${id}-${place}`}
            data-at={place}
            role="option"
            tabIndex={-1}
            aria-selected={place === chosen}
            className={classes(styles.entry, place === chosen && styles.chosen)}
            onMouseMove={() => setAt(place)}
            onClick={() => run(entry)}
          >
            {entry.icon}
            <span className={styles.name}>{entry.name}</span>
            {entry.about !== "" && <span className={styles.about}>{entry.about}</span>}
            <span className={styles.group}>{entry.group}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p className={styles.none}>Nothing is called “{typed}”</p>}
    </>
  )
}
