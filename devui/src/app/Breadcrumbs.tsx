/** Where this page is: `Actions › flow › menuQA`. */
import { Link, useRouterState } from "@tanstack/react-router"
import { ChevronRight } from "lucide-react"
import { shownKind } from "@/lib/kinds"
import { isIn, ROOMS } from "@/lib/rooms"
import styles from "./TopBar.module.css"

export function Breadcrumbs() {
  const path = useRouterState({ select: (state) => state.location.pathname })
  const room = ROOMS.find((one) => isIn(one, path))
  const inner = inside(path)
  return (
    <nav aria-label="Breadcrumbs" style={{ display: "flex", flex: 1, minWidth: 0 }}>
      <ol className={styles.crumbs}>
        {room !== undefined && (
          <li>
            {inner.length === 0 ? (
              <span className={styles.last}>{room.name}</span>
            ) : (
              <Link to={room.to} search={{}} className={styles.crumb}>
                {room.name}
              </Link>
            )}
          </li>
        )}
        {inner.map(({ word, kind }) => (
          <li key={`${kind ?? "-"} ${word}`}>
            <ChevronRight aria-hidden />
            {kind !== undefined ? (
              <Link to="/actions" search={{ kind }} className={styles.crumb}>
                {word}
              </Link>
            ) : (
              <span className={styles.last} aria-current="page">
                {word}
              </span>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}

/** What follows the room. */
function inside(path: string): { word: string; kind?: string }[] {
  const [room = "", ...rest] = path.split("/").filter(Boolean).map(decoded)
  const [first] = rest
  if (room === "run" && first !== undefined)
    return [{ word: shownKind(first), kind: first }, { word: rest.slice(1).join("/") }]
  if (room === "compare") return [{ word: "Compare" }]
  if (room === "traces" && first !== undefined) return [{ word: first.slice(0, 8) }]
  if (room === "stores" && first !== undefined) return [{ word: rest.join("/") }]
  return []
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
