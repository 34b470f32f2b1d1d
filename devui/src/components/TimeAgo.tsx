import { useEffect, useState } from "react"
import { moment, when } from "@/lib/format"

/** `5 min ago`, with the exact time on pointing. It grows older by itself. */
export function TimeAgo({ ms }: { ms: number | null | undefined }) {
  const now = useNow()
  if (ms === null || ms === undefined) return <span>—</span>
  return (
    <time dateTime={new Date(ms).toISOString()} title={moment(ms)}>
      {when(ms, now)}
    </time>
  )
}

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** One clock for all: the time is told again every ten seconds while somebody looks. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const tell = () => setNow(Date.now())
    listeners.add(tell)
    timer ??= setInterval(() => {
      for (const listener of listeners) listener()
    }, 10_000)
    return () => {
      listeners.delete(tell)
      if (listeners.size === 0) {
        clearInterval(timer)
        timer = undefined
      }
    }
  }, [])
  return Math.max(now, Date.now())
}
