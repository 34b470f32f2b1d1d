/** The keys and what they do, by place. */
import { Kbd } from "@/components/ui/Kbd"
import { SHORTCUTS } from "@/lib/shortcuts"
import styles from "./ShortcutList.module.css"

export function ShortcutList() {
  return (
    <div className={styles.groups}>
      {SHORTCUTS.map((group) => (
        <section key={group.title} className={styles.group}>
          <h3>{group.title}</h3>
          <dl>
            {group.keys.map(([keys, what]) => (
              <div key={what} className={styles.row}>
                <dt>{what}</dt>
                <dd>
                  <Kbd keys={keys} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  )
}
