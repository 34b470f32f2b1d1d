/**
 * In which form an output is shown, and the text that chunks add up to.
 *
 *     shapeOf(result)         "documents"
 *     streamedText(chunks)    "The answer so far"
 */
import { documentsOf } from "@/lib/documents"
import { isRecord, textOfParts } from "@/lib/json"
import { messagesOf } from "../trace/details/messages"

type Shape = "nothing" | "text" | "messages" | "documents" | "media" | "record" | "json"

export function shapeOf(value: unknown): Shape {
  if (value === undefined || value === null || value === "") return "nothing"
  if (mediaOf(value) !== undefined) return "media"
  if (typeof value === "string") return "text"
  if (messagesOf(value).length > 0) return "messages"
  if (isDocuments(value)) return "documents"
  if (isRecord(value) && Object.keys(value).length > 0 && Object.keys(value).length <= 40) return "record"
  return "json"
}

function isDocuments(value: unknown): boolean {
  const list = isRecord(value) && Object.keys(value).length === 1 ? value.documents : value
  if (!Array.isArray(list) || list.length === 0) return false
  return (
    list.every((item) => isRecord(item) && Array.isArray(item.content)) &&
    documentsOf(list).length === list.length
  )
}

export interface Media {
  url: string
  type: string
}

/** A data URL, alone or as a media part. */
export function mediaOf(value: unknown): Media | undefined {
  const part =
    isRecord(value) && isRecord(value.media) ? value.media : isRecord(value) ? value : { url: value }
  const { url, contentType } = part
  if (typeof url !== "string") return undefined
  const found = /^data:([\w.+-]+\/[\w.+-]+)?[;,]/.exec(url.slice(0, 200))
  if (found === null) return undefined
  return { url, type: typeof contentType === "string" ? contentType : (found[1] ?? "text/plain") }
}

/** The text of a chunk: a string, or a model's parts; undefined when it is something else. */
export function chunkText(chunk: unknown): string | undefined {
  if (typeof chunk === "string") return chunk
  if (!isRecord(chunk)) return undefined
  const content = Array.isArray(chunk.content)
    ? chunk.content
    : isRecord(chunk.message)
      ? chunk.message.content
      : undefined
  return Array.isArray(content) ? textOfParts(content) : undefined
}

/** undefined when any of them is no text. */
export function streamedText(chunks: readonly unknown[]): string | undefined {
  let text = ""
  for (const chunk of chunks) {
    const part = chunkText(chunk)
    if (part === undefined) return undefined
    text += part
  }
  return text
}

/**
 * A text that grows, in blocks that no longer change and the one that does, so that only the last is rendered again.
 * Blocks end at empty lines outside of code.
 */
export function blocksOf(text: string): string[] {
  const blocks: string[] = []
  let block: string[] = []
  let fence: string | undefined
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark !== undefined) {
      if (fence === undefined) fence = mark
      else if (mark.startsWith(fence)) fence = undefined
    }
    if (line.trim() === "" && fence === undefined && block.length > 0) {
      blocks.push(block.join("\n"))
      block = []
    } else block.push(line)
  }
  if (block.length > 0) blocks.push(block.join("\n"))
  return blocks
}

/** Characters of its JSON, without making it where the size is plain. */
export function sizeOf(value: unknown): number {
  if (value === undefined) return 0
  return typeof value === "string" ? value.length : JSON.stringify(value).length
}

export const LARGE = 200_000
