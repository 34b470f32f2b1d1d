/**
 * Traces as files, in and out.
 *
 *     const told = await importFiles(files)      // {imported: ["3ea5…"], refused: ["x.json: this is no trace"]}
 */
import { api, ask, reason, request } from "@/api/client"
import { keys, queryClient } from "@/api/queries"
import type { Imported } from "@/api/schema"
import { exportTrace } from "@/features/trace/exportTrace"

export async function importFiles(
  files: Iterable<File>,
): Promise<{ imported: readonly string[]; refused: readonly string[] }> {
  const imported: string[] = []
  const refused: string[] = []
  for (const file of files) {
    try {
      const response = await request("/api/traces/import", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: await file.text(),
      })
      imported.push(((await response.json()) as Imported).traceId)
    } catch (error) {
      refused.push(`${file.name}: ${reason(error)}`)
    }
  }
  if (imported.length > 0) {
    await queryClient.invalidateQueries({ queryKey: keys.summaries })
    for (const id of imported) queryClient.removeQueries({ queryKey: keys.trace(id) })
  }
  return { imported, refused }
}

const BETWEEN_MS = 150

/** One file for each: that is what can be imported again. */
export async function exportTraces(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    exportTrace(id)
    // A browser drops downloads that begin at once.
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS))
  }
}

export async function deleteTraces(which: { ids: readonly string[] } | { all: true }): Promise<number> {
  const body = "all" in which ? { all: true, ids: [] } : { all: false, ids: [...which.ids] }
  const { deleted } = await ask(api.DELETE("/api/traces", { body }))
  if ("ids" in which) for (const id of which.ids) queryClient.removeQueries({ queryKey: keys.trace(id) })
  await queryClient.invalidateQueries({ queryKey: keys.summaries })
  return deleted
}
