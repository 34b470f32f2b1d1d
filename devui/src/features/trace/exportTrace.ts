/** Saves a trace as a file, which can be imported again: `exportTrace(id)`. */
import { download } from "@/lib/download"

export function exportTrace(id: string): void {
  download(`/api/traces/${encodeURIComponent(id)}/export`, `trace-${id.slice(0, 8)}.json`)
}
