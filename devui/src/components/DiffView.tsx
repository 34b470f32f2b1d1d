/** Two texts, one beside the other, with what differs marked. Loaded when it is first shown. */
import { lazy, Suspense } from "react"
import styles from "./CodeEditor.module.css"
import { Skeleton } from "./ui/Skeleton"

export interface DiffViewProps {
  before: string
  after: string
  /** Equal parts are folded. */
  onlyDifferences: boolean
  labels?: readonly [string, string] | undefined
}

const Diff = lazy(() => import("./editor/Diff"))

export function DiffView(props: DiffViewProps) {
  return (
    <div className={styles.frame} data-readonly>
      <Suspense fallback={<Skeleton lines={6} />}>
        <Diff {...props} />
      </Suspense>
    </div>
  )
}
