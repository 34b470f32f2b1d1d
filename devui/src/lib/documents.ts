/**
 * Documents as actions give them, read with care: an app in another language may give less.
 *
 *     const hits = documentsOf(run.result)
 *     placeOf(hits[0])  // {source: "dinner.pdf", page: 3, index: 8}
 */
import { isRecord, textOfParts } from "./json"

export type Metadata = Record<string, unknown>

/** One hit. `key` is what makes two documents the same; `score` is undefined when none was told. */
export type Hit = {
  key: string
  id: string | undefined
  text: string
  metadata: Metadata
  score: number | undefined
  rerankScore: number | undefined
  /** As it came, to hand it to another action. */
  raw: Record<string, unknown>
}

/** Where a chunk is from, as far as its metadata tells. */
type Place = {
  source?: string
  page?: number | string
  heading?: string
  index?: number
  start?: number
  end?: number
}

/** The text of a document: its text parts, one after another. */
export function textOf(document: unknown): string {
  return isRecord(document) ? textOfParts(document.content) : ""
}

/** The documents of a retriever's or reranker's result; Genkit's rerankers write their score into the metadata only. */
export function documentsOf(result: unknown, { reranked = false } = {}): Hit[] {
  const list = isRecord(result) ? result.documents : result
  if (!Array.isArray(list)) return []
  return list.filter(isRecord).map((raw) => {
    const metadata = isRecord(raw.metadata) ? raw.metadata : {}
    const text = textOf(raw)
    const id = typeof raw.id === "string" ? raw.id : undefined
    return {
      key: id ?? `${String(metadata.source ?? "")}\u0000${text}`,
      id,
      text,
      metadata,
      score: number(raw.score),
      rerankScore: number(raw.rerankScore) ?? (reranked ? number(metadata.score) : undefined),
      raw,
    }
  })
}

function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

export function placeOf(metadata: Metadata): Place {
  const place: Place = {}
  if (typeof metadata.source === "string" && metadata.source !== "") place.source = metadata.source
  if (typeof metadata.page === "number" || typeof metadata.page === "string") place.page = metadata.page
  if (typeof metadata.heading === "string" && metadata.heading !== "") place.heading = metadata.heading
  for (const name of ["index", "start", "end"] as const) {
    const value = metadata[name]
    if (typeof value === "number" && Number.isInteger(value)) place[name] = value
  }
  return place
}

// What is shown in another way, or says nothing to a reader.
const QUIET = new Set(["source", "page", "heading", "index", "start", "end", "content_hash", "score"])

/** Metadata that is worth a chip: simple values that are not shown otherwise. */
export function chipsOf(metadata: Metadata): [string, string | number | boolean][] {
  const found: [string, string | number | boolean][] = []
  for (const [name, value] of Object.entries(metadata)) {
    if (QUIET.has(name)) continue
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      found.push([name, value])
  }
  return found
}
