/**
 * Secrets are taken out of what is kept; who runs an input of the past has to give them again.
 *
 *     redactedPlaces({ login: { password: "<redacted>" } })      ["login.password"]
 */
import { isRecord } from "@/lib/json"

const MARK = "<redacted>"

/** Places whose value was a secret. */
export function redactedPlaces(value: unknown, path = ""): string[] {
  if (value === MARK) return [path || "the input"]
  if (Array.isArray(value))
    return value.flatMap((item, index) => redactedPlaces(item, path === "" ? `${index}` : `${path}.${index}`))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, item]) =>
    redactedPlaces(item, path === "" ? key : `${path}.${key}`),
  )
}

/** The same without them: the mark that stands for a secret must not be run as if it were one. */
export function withoutSecrets(value: unknown): unknown {
  if (value === MARK) return undefined
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item) ?? null)
  if (!isRecord(value)) return value
  const kept = Object.entries(value).map(([key, item]) => [key, withoutSecrets(item)] as const)
  return Object.fromEntries(kept.filter(([, item]) => item !== undefined))
}
