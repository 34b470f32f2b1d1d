/** What is not as it should be with a trace, in a line each. */
import { reason } from "@/api/client"
import { StaleNote } from "@/components/ui/StaleNote"
import { plural } from "@/lib/format"
import type { TraceState } from "./useTrace"

export function Notes({ trace }: { trace: TraceState }) {
  const { tree, summary, skipped, error } = trace
  const notes: string[] = []
  if (summary?.status === "lost")
    notes.push("The process of this run is gone: spans without an end were never finished.")
  if (tree.orphans > 0) {
    notes.push(`The parents of ${plural(tree.orphans, "span")} are not in the store; they stand at the left.`)
  }
  if (skipped > 0) notes.push(`${plural(skipped, "span")} cannot be read.`)
  if (error && tree.nodes.length > 0) {
    notes.push(`This is how it was: ${reason(error)}.`)
  }
  return notes.map((note) => <StaleNote key={note} text={note} />)
}
