/**
 * What is to be indexed: an upload, a file of the project, or a text; and how the server is asked to cut it.
 *
 *     const body = previewOf({ kind: "path", path: "docs/menu.pdf" }, { splitter: "auto", settings: {} }, "local/…")
 */
import type { ChunkData, SplitPreview } from "@/api/schema"

export type Material =
  | { kind: "upload"; path: string; name: string; sizeBytes: number }
  | { kind: "path"; path: string }
  | { kind: "text"; text: string; name: string }

export type Cutting = { splitter: string; settings: Record<string, unknown> }

/** The name under which chunks are stored. */
export function sourceOf(material: Material): string {
  return material.kind === "path" ? material.path.trim() : material.name
}

/** The request for a preview; undefined as long as there is nothing to cut. */
export function previewOf(
  material: Material | undefined,
  cutting: Cutting,
  embedder: string | undefined,
): SplitPreview | undefined {
  if (material === undefined) return undefined
  const settings = Object.fromEntries(Object.entries(cutting.settings).filter(([, value]) => value != null))
  const how = { splitter: cutting.splitter, settings, ...(embedder === undefined ? {} : { embedder }) }
  if (material.kind === "text") {
    return material.text.trim() === ""
      ? undefined
      : ({ ...how, text: material.text, source: material.name } as SplitPreview)
  }
  return material.path.trim() === "" ? undefined : ({ ...how, path: material.path.trim() } as SplitPreview)
}

/** A chunk as an indexer takes it, under the source's own name instead of the place where it was uploaded to. */
export function documentOf(chunk: ChunkData, source: string): Record<string, unknown> {
  return { content: [{ text: chunk.text }], metadata: { ...chunk.metadata, source } }
}

/** What a page, or a heading, is called where it first appears. */
export function marksOf(chunks: readonly ChunkData[]): (string | undefined)[] {
  let page: unknown
  let heading: unknown
  return chunks.map(({ metadata }) => {
    const words: string[] = []
    if (metadata.page !== undefined && metadata.page !== page) words.push(`Page ${metadata.page}`)
    if (typeof metadata.heading === "string" && metadata.heading !== heading) words.push(metadata.heading)
    page = metadata.page
    heading = metadata.heading
    return words.length === 0 ? undefined : words.join(" · ")
  })
}

type Sizes = { least: number; middle: number; most: number; shared: number }

/** Tokens of chunks, and the share of the text that two chunks have. */
export function sizesOf(chunks: readonly ChunkData[]): Sizes {
  const tokens = chunks.map((chunk) => chunk.tokens).sort((a, b) => a - b)
  const all = tokens.reduce((sum, each) => sum + each, 0)
  const twice = chunks.reduce((sum, chunk) => sum + (chunk.overlap?.tokens ?? 0), 0)
  return {
    least: tokens[0] ?? 0,
    middle: tokens[Math.floor(tokens.length / 2)] ?? 0,
    most: tokens.at(-1) ?? 0,
    shared: all === 0 ? 0 : twice / all,
  }
}
