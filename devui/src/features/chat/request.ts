/**
 * What is asked of a model: the conversation so far, as Genkit's GenerateRequest.
 *
 *     requestFor({ turns, text: "And vegan?", system, config, docs })
 */
import type { Turn } from "./tree"

export interface Settings {
  system: string
  config: unknown
}

interface Message {
  role: "system" | "user" | "model"
  content: readonly unknown[]
}

export interface GenerateRequest {
  messages: Message[]
  config?: unknown
  docs?: unknown
}

interface Asked extends Settings {
  /** Those before. */
  turns: readonly Turn[]
  text: string
  docs?: readonly unknown[] | undefined
}

export function requestFor({ turns, text, system, config, docs }: Asked): GenerateRequest {
  const messages: Message[] = []
  if (system.trim() !== "") messages.push({ role: "system", content: [{ text: system }] })
  for (const turn of turns) {
    messages.push({ role: "user", content: [{ text: turn.text }] })
    if (turn.reply.parts.length > 0) messages.push({ role: "model", content: turn.reply.parts })
  }
  messages.push({ role: "user", content: [{ text }] })
  return { messages, ...(isFilled(config) ? { config } : {}), ...(docs && docs.length > 0 ? { docs } : {}) }
}

/** An object that says something. */
export function isFilled(config: unknown): boolean {
  return typeof config === "object" && config !== null && Object.keys(config).length > 0
}

export interface Abilities {
  multiturn: boolean
  systemRole: boolean
  config: unknown
}

/** What the model says about itself; what it does not say, it can. */
export function abilities(metadata: unknown): Abilities {
  const model =
    ((metadata ?? {}) as { model?: { supports?: Record<string, unknown>; customOptions?: unknown } }).model ??
    {}
  const supports = model.supports ?? {}
  return {
    multiturn: supports.multiturn !== false,
    systemRole: supports.systemRole !== false,
    config: isFilled(model.customOptions) ? model.customOptions : undefined,
  }
}
