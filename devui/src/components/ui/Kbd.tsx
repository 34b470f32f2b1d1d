/** Keys, as they are written on this machine's keyboard: `<Kbd keys="Mod+Enter" />`, `<Kbd keys="G A" />`. */
import styles from "./Kbd.module.css"

const APPLE = /Mac|iP/.test(navigator.platform)
const WORDS: Record<string, string> = {
  Mod: APPLE ? "⌘" : "Ctrl",
  Shift: APPLE ? "⇧" : "Shift",
  Alt: APPLE ? "⌥" : "Alt",
  Enter: "↵",
  Escape: "Esc",
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
}

export function Kbd({ keys }: { keys: string }) {
  const parts = keys.split(/[+ ]/).filter(Boolean)
  return (
    <span className={styles.keys}>
      {parts.map((key) => (
        <kbd key={key} className={styles.key}>
          {WORDS[key] ?? key}
        </kbd>
      ))}
    </span>
  )
}
