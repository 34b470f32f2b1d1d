/** The rooms of the house, as rail, palette and shortcuts name them. */
import { Activity, Database, House, ListTree, type LucideIcon, ScrollText, Settings } from "lucide-react"

interface Room {
  to: "/" | "/actions" | "/traces" | "/stores" | "/logs" | "/settings"
  name: string
  Icon: LucideIcon
  /** The second key after `g`. */
  key: string
  /** Addresses that belong to it, besides its own. */
  also?: readonly string[]
}

export const ROOMS: readonly Room[] = [
  { to: "/", name: "Home", Icon: House, key: "h" },
  { to: "/actions", name: "Actions", Icon: ListTree, key: "a", also: ["/run/"] },
  { to: "/traces", name: "Traces", Icon: Activity, key: "t", also: ["/compare"] },
  { to: "/stores", name: "Stores", Icon: Database, key: "s" },
  { to: "/logs", name: "Logs", Icon: ScrollText, key: "l" },
  { to: "/settings", name: "Settings", Icon: Settings, key: "e" },
]

export function isIn(room: Room, path: string): boolean {
  if (room.to === "/") return path === "/"
  return (
    path === room.to ||
    path.startsWith(`${room.to}/`) ||
    (room.also ?? []).some((one) => path.startsWith(one))
  )
}
