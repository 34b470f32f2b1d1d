/** A conversation with a model: what was said, what is said now, and how to say more. Kept in this tab. */
import { useCallback, useEffect, useRef, useState } from "react"
import { runToEnd } from "@/api/runToEnd"
import { useRun } from "@/api/useRun"
import { type GenerateRequest, requestFor, type Settings } from "./request"
import {
  before,
  choose,
  EMPTY,
  joined,
  type Part,
  path,
  type Reply,
  say,
  type Tree,
  type Turn,
  withReply,
} from "./tree"

const LARGEST = 400_000

export interface Source {
  /** The key of a retriever; undefined: the model answers without documents. */
  retriever: string | undefined
  k: number
}

export interface Chat {
  tree: Tree
  shown: readonly Turn[]
  /** Of the turn that is answered now. */
  running: string | undefined
  send: (text: string, after?: Turn | "start") => Promise<void>
  cancel: () => void
  pick: (turn: Turn) => void
  clear: () => void
  lastRequest: () => GenerateRequest | undefined
}

export function useChat(key: string, settings: Settings, source: Source, multiturn: boolean): Chat {
  const store = `flowkit.chat.${key}`
  const [tree, setTree] = useState<Tree>(() => kept(store))
  const [running, setRunning] = useState<string>()
  const run = useRun()
  const asked = useRef<GenerateRequest>(undefined)
  const searching = useRef<AbortController>(undefined)
  useEffect(() => () => searching.current?.abort(), [])

  useEffect(() => {
    const text = JSON.stringify(tree)
    if (text.length < LARGEST) sessionStorage.setItem(store, text)
  }, [tree, store])

  const { status, chunks, result, error, run: info } = run
  useEffect(() => {
    if (running === undefined || status === undefined || status === "starting") return
    const { message, usage, latencyMs, finishReason } = (result ?? {}) as {
      message?: { content?: Part[] }
      usage?: Reply["usage"]
      latencyMs?: number
      finishReason?: string
    }
    const reply: Reply = {
      status,
      parts: status === "success" && message?.content ? message.content : joined(chunks),
      usage,
      latencyMs: latencyMs ?? info?.durationMs ?? undefined,
      finishReason,
      traceId: info?.traceId ?? undefined,
      error: error && { message: error.message, hint: error.hint },
    }
    setTree((now) => withReply(now, running, reply))
    if (status !== "running") setRunning(undefined)
  }, [running, status, chunks, result, error, info])

  const send = useCallback(
    async (text: string, after?: Turn | "start") => {
      const last = path(tree).at(-1)
      const parent = after === "start" ? undefined : (after ?? last)?.id
      const id = crypto.randomUUID()
      setTree((now) => say(now, parent, { id, text }))
      setRunning(id)
      run.show({})
      let docs: readonly unknown[] | undefined
      try {
        docs = await retrieved(source, text, searching)
      } catch (failure) {
        const { message, hint } = failure as { message: string; hint?: string }
        setTree((now) => withReply(now, id, { status: "error", parts: [], error: { message, hint } }))
        setRunning(undefined)
        return
      }
      const turns = multiturn ? before(tree, { parent }) : []
      const past = parent === undefined ? [] : turns.filter((turn) => turn.reply.status !== "running")
      asked.current = requestFor({ turns: past, text, ...settings, docs })
      await run.start({ key, input: asked.current })
    },
    [tree, run, settings, source, multiturn, key],
  )
  return {
    tree,
    shown: path(tree),
    running,
    send,
    cancel: () => {
      searching.current?.abort()
      void run.cancel()
    },
    pick: (turn) => setTree((now) => choose(now, turn)),
    clear: () => setTree(EMPTY),
    lastRequest: () => asked.current,
  }
}

/** What the retriever finds for the text: documents to answer from. */
async function retrieved(
  { retriever, k }: Source,
  text: string,
  searching: { current: AbortController | undefined },
): Promise<readonly unknown[] | undefined> {
  if (retriever === undefined) return undefined
  searching.current = new AbortController()
  const { signal } = searching.current
  const { result } = await runToEnd(retriever, { query: { content: [{ text }] }, options: { k } }, { signal })
  const { documents } = (result ?? {}) as { documents?: unknown[] }
  return documents
}

function kept(store: string): Tree {
  try {
    const found = JSON.parse(sessionStorage.getItem(store) ?? "null") as Tree | null
    if (found === null || !Array.isArray(found.turns)) return EMPTY
    // What was running when the page was left is not followed any more; its trace has the end.
    const turns = found.turns.map((turn) =>
      turn.reply.status === "running" ? { ...turn, reply: { ...turn.reply, status: "lost" as const } } : turn,
    )
    return { ...found, turns }
  } catch {
    return EMPTY
  }
}
