/**
 * Writing a source into an index: read and cut it, hand its chunks to the indexer in portions, delete what is outdated.
 *
 *     const report = await indexSource({ action, body, source, replace: true }, setProgress, signal)
 */
import { api, ask } from "@/api/client"
import { runToEnd } from "@/api/runToEnd"
import type { ActionData, ChunkData, SplitPreview, SplitPreviewData } from "@/api/schema"
import { batches } from "./batches"
import { documentOf } from "./material"

export type Stage = "read" | "split" | "embed" | "store"
export type Progress = {
  stage: Stage | "done"
  /** Characters of the text, once it was read. */
  characters?: number
  /** How many chunks there are, once it was cut. */
  chunks?: number
  embedded: number
  /** Embeddings that were known already. */
  cached: number
  stored: number
  unchanged: number
  /** When how many chunks were done, for the pace. */
  marks: { ms: number; done: number }[]
}

export type Report = {
  chunks: number
  written: number
  updated: number
  unchanged: number
  cached: number
  deleted: number
  ms: number
  warnings: string[]
  traces: string[]
}

export type Job = {
  action: ActionData
  body: SplitPreview
  source: string
  /** Delete what the index has of this source and the text no longer says. */
  replace: boolean
}

type IndexReport = {
  written?: number
  updated?: number
  unchanged?: number
  cached?: number
  windowed?: number
  cleanedCharacters?: number
  ids?: string[]
  warnings?: string[]
}

const NOTHING: Progress = { stage: "read", embedded: 0, cached: 0, stored: 0, unchanged: 0, marks: [] }

/** Do it. What was written stays when it fails or is aborted; nothing is deleted then. */
export async function indexSource(
  { action, body, source, replace }: Job,
  tell: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Report> {
  const began = performance.now()
  tell(NOTHING)
  const preview = await ask(api.POST("/api/split-preview", { body, signal }))
  refuseIncomplete(preview)
  const chunks = preview.chunks
  let progress: Progress = {
    ...NOTHING,
    stage: "embed",
    characters: [...preview.text].length,
    chunks: chunks.length,
    marks: [{ ms: performance.now(), done: 0 }],
  }
  tell(progress)
  const report: Report = {
    chunks: chunks.length,
    written: 0,
    updated: 0,
    unchanged: 0,
    cached: 0,
    deleted: 0,
    ms: 0,
    warnings: [],
    traces: [],
  }
  const ids = new Set<string>()
  let windowed = 0
  let cleaned = 0
  for (const batch of batches<ChunkData>(chunks, batchSize(chunks.length))) {
    signal.throwIfAborted()
    const documents = batch.map((chunk) => documentOf(chunk, source))
    const { run, result } = await runToEnd(action.key, { documents }, { signal })
    const told = (typeof result === "object" && result !== null ? result : {}) as IndexReport
    const known = told.written !== undefined
    report.written += told.written ?? batch.length
    report.updated += told.updated ?? 0
    report.unchanged += told.unchanged ?? 0
    report.cached += told.cached ?? 0
    windowed += told.windowed ?? 0
    cleaned += told.cleanedCharacters ?? 0
    for (const id of told.ids ?? []) ids.add(id)
    for (const warning of told.warnings ?? [])
      if (!report.warnings.includes(warning)) report.warnings.push(warning)
    if (run.traceId) report.traces.push(run.traceId)
    const done = (progress.marks.at(-1)?.done ?? 0) + batch.length
    progress = {
      ...progress,
      stage: "store",
      embedded: progress.embedded + (known ? (told.written ?? 0) : batch.length),
      cached: report.cached,
      stored: progress.stored + (known ? (told.written ?? 0) + (told.updated ?? 0) : batch.length),
      unchanged: report.unchanged,
      marks: [...progress.marks, { ms: performance.now(), done }],
    }
    tell(progress)
  }
  if (windowed > 0) {
    report.warnings.push(
      `${windowed} of the chunks are longer than the embedder takes; they were embedded as the mean of their parts. Make chunks smaller.`,
    )
  }
  if (cleaned > 0)
    report.warnings.push(`${cleaned} characters that no store can hold were removed or replaced.`)
  if (replace && action.index && ids.size > 0) {
    signal.throwIfAborted()
    report.deleted = await deleteOutdated(action.index.name, source, ids)
  }
  report.ms = performance.now() - began
  tell({ ...progress, stage: "done" })
  return report
}

/** Portions that show progress with few chunks, and cost little with many. */
function batchSize(chunks: number): number {
  return Math.min(32, Math.max(4, Math.ceil(chunks / 8)))
}

function refuseIncomplete(preview: SplitPreviewData): void {
  if (preview.total > preview.chunks.length) {
    throw new Error(
      `This makes ${preview.total} chunks, and the bench writes at most ${preview.chunks.length}. Use flowkit rag:index for large sources.`,
    )
  }
  if (preview.chunks.length === 0) throw new Error("There is no text in it.")
}

async function deleteOutdated(store: string, source: string, ids: ReadonlySet<string>): Promise<number> {
  const outdated: string[] = []
  let cursor: string | undefined
  do {
    const page = await ask(
      api.GET("/api/stores/documents", {
        params: { query: { store, source, limit: 500, ...(cursor === undefined ? {} : { cursor }) } },
      }),
    )
    outdated.push(...page.documents.map((document) => document.id).filter((id) => !ids.has(id)))
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
  if (outdated.length === 0) return 0
  const answer = await ask(api.POST("/api/stores/delete", { body: { store, ids: outdated } as never }))
  return answer.deleted
}
