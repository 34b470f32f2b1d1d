/**
 * The texts of an embedder's bench, kept in this browser for each embedder.
 *
 *     const [texts, setTexts] = useTexts("/embedder/local/all-minilm-l6-v2")
 */
import { useState } from "react"

export const MOST = 50
const FIRST = ["", ""]

export function useTexts(key: string): [string[], (texts: string[]) => void] {
  const name = `flowkit.embed.${key}`
  const [texts, setTexts] = useState(() => kept(localStorage.getItem(name)))
  return [
    texts,
    (next) => {
      const some = next.length === 0 ? [""] : next.slice(0, MOST)
      setTexts(some)
      localStorage.setItem(name, JSON.stringify(some))
    },
  ]
}

function kept(text: string | null): string[] {
  try {
    const value: unknown = JSON.parse(text ?? "null")
    const found = Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : []
    return found.length === 0 ? FIRST : found
  } catch {
    return FIRST
  }
}

/** A text put in at a place; one of several lines becomes several texts. */
export function withLines(texts: readonly string[], at: number, text: string): string[] {
  const lines = text.split(/\r?\n/)
  const kept = lines.length === 1 ? lines : lines.filter((line) => line.trim() !== "")
  return [...texts.slice(0, at), ...(kept.length === 0 ? [""] : kept), ...texts.slice(at + 1)].slice(0, MOST)
}
