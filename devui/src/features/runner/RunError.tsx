/** Why a run failed: the exception and its traceback, or why it never began. */

import type { RunHead } from "@/api/follow"
import { RunFailure } from "@/api/runs"
import { Failure } from "@/components/ui/Failure"
import { ErrorView } from "../trace/details/ErrorView"
import styles from "./runner.module.css"

export function RunError({ run, onRetry }: { run: RunHead; onRetry: () => void }) {
  const { error } = run
  if (error === undefined) return null
  if (!(error instanceof RunFailure)) return <Failure error={error} onRetry={onRetry} />
  return (
    <div className={styles.error} role="alert">
      <ErrorView error={{ type: error.type, message: error.message, stack: error.stack_ }} />
      {error.hint !== undefined && <p className={styles.hint}>{error.hint}</p>}
    </div>
  )
}
