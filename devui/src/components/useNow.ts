/** The present, told again while something runs: `useNow(running ? 100 : undefined)`. Milliseconds since the epoch. */
import { useEffect, useState } from "react"

export function useNow(everyMs: number | undefined): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (everyMs === undefined) return
    const tell = () => setNow(Date.now())
    tell()
    const timer = setInterval(tell, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
