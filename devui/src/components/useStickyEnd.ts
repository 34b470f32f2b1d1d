/** Keep the end in sight while something grows, but only while the reader is at the end. */
import { type RefObject, useLayoutEffect, useRef } from "react"

const NEAR_PX = 40

export function useStickyEnd(box: RefObject<HTMLElement | null>, grown: unknown): { onScroll: () => void } {
  const atEnd = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever it has grown
  useLayoutEffect(() => {
    const element = box.current
    if (element !== null && atEnd.current) element.scrollTop = element.scrollHeight
  }, [box, grown])
  return {
    onScroll: () => {
      const element = box.current
      if (element === null) return
      atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX
    },
  }
}
