/** Keys that work on every page: the palette, the sheet, and `g` with the first letter of a room. */
import { useNavigate } from "@tanstack/react-router"
import { useEffect, useRef } from "react"
import { ROOMS } from "@/lib/rooms"
import { isTyping } from "@/lib/typing"

const CHORD_MS = 1200

export function useShortcuts({ onPalette, onSheet }: { onPalette: () => void; onSheet: () => void }): void {
  const navigate = useNavigate()
  const calls = useRef({ onPalette, onSheet })
  calls.current = { onPalette, onSheet }

  useEffect(() => {
    let chord = 0
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault()
        calls.current.onPalette()
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target))
        return
      if (event.key === "?") {
        event.preventDefault()
        calls.current.onSheet()
      } else if (event.key === "/") {
        const search = document.querySelector<HTMLInputElement>('main input[type="search"]')
        if (search !== null) {
          event.preventDefault()
          search.focus()
        }
      } else if (event.key === "g") chord = Date.now()
      else if (Date.now() - chord < CHORD_MS) {
        chord = 0
        const room = ROOMS.find((one) => one.key === event.key)
        if (room !== undefined) {
          event.preventDefault()
          void navigate({ to: room.to, search: {} })
        }
      }
    }
    window.addEventListener("keydown", onKeyDown)
    return () => window.removeEventListener("keydown", onKeyDown)
  }, [navigate])
}
