/** What an error says about one option, to show it beside its field. */
import { ApiError } from "@/api/client"

/** The message for `options.<name>`; undefined when the error is about something else. */
export function fieldError(error: unknown, name: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const field = error.fields.find(({ path }) => path.split(".").includes(name))
  if (field === undefined) return undefined
  return error.hint === undefined ? field.message : `${field.message} (${error.hint})`
}
