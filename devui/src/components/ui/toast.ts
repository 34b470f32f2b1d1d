/**
 * Short news at the edge of the page; `Toaster` shows them.
 *
 *     toast({ title: "Deleted", text: "3 traces", tone: "ok" })
 */
import { Toast } from "@base-ui/react/toast"
import { reason } from "@/api/client"

export const toasts = Toast.createToastManager()

export function toast({
  title,
  text,
  tone = "info",
}: {
  title: string
  text?: string | undefined
  tone?: "ok" | "error" | "info" | undefined
}): void {
  toasts.add({
    title,
    ...(text === undefined ? {} : { description: text }),
    type: tone,
    timeout: tone === "error" ? 10_000 : 4_000,
    priority: tone === "error" ? "high" : "low",
  })
}

/** Says why something did not work: `promise.catch(failed("It could not be cancelled"))`. */
export function failed(title: string): (error: unknown) => void {
  return (error) => toast({ title, text: reason(error), tone: "error" })
}
