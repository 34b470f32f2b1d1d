/** The way to the rooms. Narrow windows see the signs only; a telephone has it at its bottom. */
import { Link } from "@tanstack/react-router"
import { PanelLeft } from "lucide-react"
import { useState } from "react"
import { IconButton } from "@/components/ui/Button"
import { classes } from "@/lib/classes"
import { isIn, ROOMS } from "@/lib/rooms"
import styles from "./Rail.module.css"

const KEY = "flowkit.rail"

export function Rail({ path }: { path: string }) {
  const [small, setSmall] = useState(() => localStorage.getItem(KEY) === "small")
  const turn = () => {
    localStorage.setItem(KEY, small ? "wide" : "small")
    setSmall(!small)
  }
  return (
    <nav className={classes(styles.rail, small && styles.small)} aria-label="Main">
      <Link to="/" className={styles.brand} aria-label="flowkit">
        <svg className={styles.mark} viewBox="0 0 32 32" aria-hidden="true">
          <path d="M7 8h18M7 16h11M7 24h6" />
          <circle cx="23" cy="16" r="2.6" />
          <circle cx="18" cy="24" r="2.6" />
        </svg>
        <span className={styles.word}>flowkit</span>
      </Link>
      <ul className={styles.rooms}>
        {ROOMS.map((room) => (
          <li key={room.to}>
            <Link
              to={room.to}
              search={{}}
              className={styles.room}
              data-here={isIn(room, path) || undefined}
              aria-current={isIn(room, path) ? "page" : undefined}
              title={room.name}
            >
              <room.Icon aria-hidden />
              <span className={styles.word}>{room.name}</span>
            </Link>
          </li>
        ))}
      </ul>
      <div className={styles.foot}>
        <IconButton
          label={small ? "Widen the rail" : "Narrow the rail"}
          icon={<PanelLeft aria-hidden />}
          onClick={turn}
        />
      </div>
    </nav>
  )
}
