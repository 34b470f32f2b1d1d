/**
 * A conversation as a tree: each turn is what somebody said and what the model answered; saying it differently makes a
 * branch beside it. Everything here gives a new tree.
 *
 *     const tree = say(EMPTY, undefined, { id: "1", text: "Hello" })
 *     path(tree)   // the turns that are shown
 */
type ReplyStatus = "running" | "success" | "error" | "cancelled" | "lost"

export interface Part {
  text?: string
  [key: string]: unknown
}

interface Usage {
  inputTokens?: number
  outputTokens?: number
}

export interface Reply {
  status: ReplyStatus
  parts: readonly Part[]
  usage?: Usage | undefined
  latencyMs?: number | undefined
  finishReason?: string | undefined
  traceId?: string | undefined
  error?: { message: string; hint?: string | undefined } | undefined
}

export interface Turn {
  id: string
  parent: string | undefined
  text: string
  reply: Reply
}

export interface Tree {
  turns: readonly Turn[]
  /** Which of several turns after the same one is shown: its id, by the parent's. */
  chosen: Readonly<Record<string, string>>
}

export const EMPTY: Tree = { turns: [], chosen: {} }
const ROOT = ""

export function say(tree: Tree, parent: string | undefined, turn: { id: string; text: string }): Tree {
  const added: Turn = { ...turn, parent, reply: { status: "running", parts: [] } }
  return { turns: [...tree.turns, added], chosen: { ...tree.chosen, [parent ?? ROOT]: turn.id } }
}

export function withReply(tree: Tree, id: string, reply: Reply): Tree {
  return { ...tree, turns: tree.turns.map((turn) => (turn.id === id ? { ...turn, reply } : turn)) }
}

/** Turns that follow the same one, in the order in which they were said; the turn itself is among them. */
export function branches(tree: Tree, turn: Turn): Turn[] {
  return tree.turns.filter((one) => one.parent === turn.parent)
}

export function choose(tree: Tree, turn: Turn): Tree {
  return { ...tree, chosen: { ...tree.chosen, [turn.parent ?? ROOT]: turn.id } }
}

/** The turns that are shown, from the first to the last. */
export function path(tree: Tree): Turn[] {
  const shown: Turn[] = []
  let parent: string | undefined
  for (;;) {
    const next = tree.turns.filter((turn) => turn.parent === parent)
    const chosen = tree.chosen[parent ?? ROOT]
    const turn: Turn | undefined = next.find((one) => one.id === chosen) ?? next.at(-1)
    if (turn === undefined) return shown
    shown.push(turn)
    parent = turn.id
  }
}

/** The turns before one, without it. */
export function before(tree: Tree, turn: Pick<Turn, "parent">): Turn[] {
  const found: Turn[] = []
  let id = turn.parent
  while (id !== undefined) {
    const up = tree.turns.find((one) => one.id === id)
    if (up === undefined) break
    found.unshift(up)
    id = up.parent
  }
  return found
}

/** Chunks as one message: texts that follow each other are one. */
export function joined(chunks: readonly unknown[]): Part[] {
  const parts: Part[] = []
  for (const chunk of chunks) {
    const content = (chunk as { content?: unknown } | null)?.content
    for (const part of Array.isArray(content) ? (content as Part[]) : []) {
      const last = parts.at(-1)
      if (onlyText(part) && last !== undefined && onlyText(last))
        parts[parts.length - 1] = { text: `${last.text}${part.text}` }
      else parts.push(part)
    }
  }
  return parts
}

function onlyText(part: Part): boolean {
  return typeof part.text === "string" && Object.keys(part).length === 1
}
