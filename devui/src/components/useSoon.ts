/** Something that is done once a little later, however often it is asked for: `const soon = useSoon(refetch, 350)`. */
import { useCallback, useEffect, useRef } from "react"

export function useSoon(act: () => void, ms: number): () => void {
  const latest = useRef(act)
  latest.current = act
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const stop = useCallback(() => {
    clearTimeout(timer.current)
    timer.current = undefined
  }, [])
  useEffect(() => stop, [stop])
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      stop()
      latest.current()
    }, ms)
  }, [ms, stop])
}
