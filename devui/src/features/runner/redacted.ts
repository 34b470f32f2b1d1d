/**
 * Secrets are taken out of what is kept; who runs an input of the past has to give them again.
 *
 *     redactedPlaces({ login: { password: "<redacted>" } })      ["login.password"]
 */
import { isRecord } from "@/components/schema-form/schema"

/** Places whose value was a secret. */
export function redactedPlaces(value: unknown, path = ""): string[] {
  if (value === "<redacted>") return [path || "the input"]
  if (Array.isArray(value))
    return value.flatMap((item, index) => redactedPlaces(item, path === "" ? `${index}` : `${path}.${index}`))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([key, item]) =>
    redactedPlaces(item, path === "" ? key : `${path}.${key}`),
  )
}
