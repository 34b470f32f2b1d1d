/** How many actions of each kind; each leads to them. */
import { Link } from "@tanstack/react-router"
import { KindTag } from "@/components/KindTag"
import { sortKinds } from "@/lib/kinds"
import styles from "./HomePage.module.css"

export function KindCounts({ counts }: { counts: Record<string, number> }) {
  return (
    <ul className={styles.kinds}>
      {sortKinds(Object.keys(counts)).map((kind) => (
        <li key={kind}>
          <Link to="/actions" search={{ kind }}>
            <KindTag kind={kind} size="m" />
            <span className={styles.count}>{counts[kind]}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
