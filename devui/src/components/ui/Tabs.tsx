/**
 * Panels of which one is seen.
 *
 *     <Tabs label="Details" value={tab} onChange={setTab} items={[{ value: "in", label: "Input" }]}>
 *       <TabPanel value="in">…</TabPanel>
 *     </Tabs>
 */
import { Tabs as Base } from "@base-ui/react/tabs"
import type { ReactNode } from "react"
import styles from "./Tabs.module.css"

interface TabItem {
  value: string
  label: string
  count?: number | undefined
}

interface TabsProps {
  value: string
  onChange: (value: string) => void
  items: readonly TabItem[]
  label: string
  /** At the end of the row of tabs. */
  actions?: ReactNode
  children?: ReactNode
}

export function Tabs({ value, onChange, items, label, actions, children }: TabsProps) {
  return (
    <Base.Root className={styles.root} value={value} onValueChange={(chosen) => onChange(String(chosen))}>
      <div className={styles.bar}>
        <Base.List className={styles.list} aria-label={label} activateOnFocus>
          {items.map((item) => (
            <Base.Tab key={item.value} value={item.value} className={styles.tab}>
              {item.label}
              {item.count !== undefined && <span className={styles.count}>{item.count}</span>}
            </Base.Tab>
          ))}
        </Base.List>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </Base.Root>
  )
}

export function TabPanel({ value, children }: { value: string; children: ReactNode }) {
  return (
    <Base.Panel value={value} className={styles.panel}>
      {children}
    </Base.Panel>
  )
}
