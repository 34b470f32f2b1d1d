/** Ctrl-Enter runs, wherever the focus is: `useRunKey(() => void run())`. */
import { useEffect, useRef } from "react"

export function useRunKey(onRun: () => void): void {
  const latest = useRef(onRun)
  useEffect(() => {
    latest.current = onRun
  })
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return
      event.preventDefault()
      latest.current()
    }
    window.addEventListener("keydown", pressed)
    return () => window.removeEventListener("keydown", pressed)
  }, [])
}
