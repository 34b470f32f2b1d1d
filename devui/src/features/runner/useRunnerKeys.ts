/** Keys of the runner: Ctrl/Cmd-Enter runs, Ctrl-J changes between form and JSON, Esc asks to cancel. */
import { useKeyDown } from "@/components/useKeyDown"

interface Does {
  run: () => void
  toggle: () => void
  /** Absent while nothing runs. */
  cancel: (() => void) | undefined
}

export function useRunnerKeys({ run, toggle, cancel }: Does): void {
  useKeyDown((event) => {
    if (event.defaultPrevented || event.isComposing) return
    const mod = event.ctrlKey || event.metaKey
    if (mod && event.key === "Enter") run()
    else if (mod && event.key.toLowerCase() === "j") toggle()
    else if (event.key === "Escape" && cancel !== undefined && !within(event.target)) cancel()
    else return
    event.preventDefault()
  })
}

/** Esc belongs to what is open above the page, and to search fields. */
function within(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('[role="dialog"], [role="menu"], [role="listbox"], [type="search"]') !== null
  )
}
