/** Keys of a page, wherever the focus is; the handler is always that of the last drawing: `useKeyDown((event) => …)`. */
import { useEffect, useRef } from "react"

export function useKeyDown(handler: (event: KeyboardEvent) => void, active = true): void {
  const latest = useRef(handler)
  latest.current = handler
  useEffect(() => {
    if (!active) return
    const listen = (event: KeyboardEvent) => latest.current(event)
    document.addEventListener("keydown", listen)
    return () => document.removeEventListener("keydown", listen)
  }, [active])
}
