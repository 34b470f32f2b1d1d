/** Something did not work: what, what to do, and the way to try again. */
import { CircleAlert, RotateCw } from "lucide-react"
import { ApiError, OfflineError } from "@/api/client"
import { Button } from "./Button"
import styles from "./Failure.module.css"

interface FailureProps {
  error: unknown
  onRetry?: (() => void) | undefined
}

export function Failure({ error, onRetry }: FailureProps) {
  const { message, hint } = told(error)
  return (
    <div className={styles.failure} role="alert">
      <CircleAlert className={styles.icon} aria-hidden />
      <div className={styles.words}>
        <p className={styles.message}>{message}</p>
        {hint !== undefined && <p className={styles.hint}>{hint}</p>}
      </div>
      {onRetry !== undefined && (
        <Button size="s" icon={<RotateCw aria-hidden />} onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

function told(error: unknown): { message: string; hint: string | undefined } {
  if (error instanceof ApiError) return { message: error.message, hint: error.hint }
  if (error instanceof OfflineError)
    return {
      message: `${error.message}.`,
      hint: "This page goes on by itself when `flowkit start` runs again.",
    }
  if (error instanceof Error) return { message: error.message || error.name, hint: undefined }
  return { message: String(error), hint: undefined }
}
