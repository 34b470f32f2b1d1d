/** Ctrl-Enter runs, wherever the focus is: `useRunKey(() => void run())`. */
import { useKeyDown } from "./useKeyDown"

export function useRunKey(onRun: () => void): void {
  useKeyDown((event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return
    event.preventDefault()
    onRun()
  })
}
