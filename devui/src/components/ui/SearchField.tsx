/** Where a word is typed that leaves out what has it not. Esc clears it. */
import { Search, X } from "lucide-react"
import type { KeyboardEventHandler, Ref } from "react"
import styles from "./SearchField.module.css"

interface SearchFieldProps {
  label: string
  value: string
  onChange: (value: string) => void
  placeholder?: string | undefined
  onKeyDown?: KeyboardEventHandler<HTMLInputElement> | undefined
  ref?: Ref<HTMLInputElement> | undefined
}

export function SearchField({ label, value, onChange, placeholder, onKeyDown, ref }: SearchFieldProps) {
  return (
    <div className={styles.search}>
      <Search className={styles.sign} aria-hidden />
      <input
        ref={ref}
        type="search"
        className={styles.input}
        aria-label={label}
        value={value}
        placeholder={placeholder ?? label}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && value !== "") {
            event.preventDefault()
            event.stopPropagation()
            onChange("")
            return
          }
          onKeyDown?.(event)
        }}
      />
      {value !== "" && (
        <button type="button" className={styles.clear} aria-label="Clear search" onClick={() => onChange("")}>
          <X aria-hidden />
        </button>
      )}
    </div>
  )
}
