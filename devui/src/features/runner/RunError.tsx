/** Why a run failed: the exception and its traceback, or why it never began. */
import { Failure } from "@/components/ui/Failure"
import { ErrorView } from "../trace/details/ErrorView"
import { RunFailure } from "./follow"
import styles from "./runner.module.css"
import type { UseRun } from "./useRun"

export function RunError({ run, onRetry }: { run: UseRun; onRetry: () => void }) {
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
