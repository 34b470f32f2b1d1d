/** Where one is, which app runs and whether it answers, what is running, and the way to everything else. */
import { Search } from "lucide-react"
import { Kbd } from "@/components/ui/Kbd"
import { Breadcrumbs } from "./Breadcrumbs"
import { Connection } from "./Connection"
import { RunningMenu } from "./RunningMenu"
import { ThemeMenu } from "./ThemeMenu"
import styles from "./TopBar.module.css"

export function TopBar({ onPalette }: { onPalette: () => void }) {
  return (
    <header className={styles.bar}>
      <Breadcrumbs />
      <div className={styles.tools}>
        <RunningMenu />
        <button
          type="button"
          className={styles.search}
          onClick={onPalette}
          aria-label="Search or run a command"
        >
          <Search aria-hidden />
          <span className={styles.word}>Search</span>
          <span className={styles.keys}>
            <Kbd keys="Mod+K" />
          </span>
        </button>
        <Connection />
        <ThemeMenu />
      </div>
    </header>
  )
}
