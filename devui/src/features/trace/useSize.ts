/**
 * The size of an element, and whether fingers point at it.
 *
 *     const [ref, { width }] = useSize<HTMLDivElement>()
 */
import { type RefCallback, useCallback, useState, useSyncExternalStore } from "react"

interface Size {
  width: number
  height: number
}

export function useSize<E extends Element>(): [RefCallback<E>, Size] {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 })
  const ref = useCallback((element: E | null) => {
    if (element === null) return
    const observer = new ResizeObserver(([entry]) => {
      if (entry === undefined) return
      const { width, height } = entry.contentRect
      setSize((before) => (before.width === width && before.height === height ? before : { width, height }))
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [ref, size]
}

const coarse = matchMedia("(pointer: coarse)")

function subscribe(tell: () => void): () => void {
  coarse.addEventListener("change", tell)
  return () => coarse.removeEventListener("change", tell)
}

/** Pixels of a row: by what points at it, never by the room there is. */
export function useRowHeight(): number {
  return useSyncExternalStore(subscribe, () => (coarse.matches ? 44 : 26))
}
