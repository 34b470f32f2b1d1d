/** A page has failed; the others and the frame still work. */
import type { ErrorComponentProps } from "@tanstack/react-router"
import { Failure } from "@/components/ui/Failure"
import { PageHeader } from "@/components/ui/PageHeader"

export function PageError({ error, reset }: ErrorComponentProps) {
  return (
    <>
      <PageHeader
        title="This page has failed"
        lead="Its console says more. The other pages are not affected."
      />
      <Failure error={error} onRetry={reset} />
    </>
  )
}
