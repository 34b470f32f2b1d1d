/** Inputs that an action had before, newest first; large ones are fetched when they are wanted. */
import { queryOptions } from "@tanstack/react-query"
import { useCallback } from "react"
import { api, ask } from "@/api/client"
import { keys } from "@/api/queries"
import type { PastInputData } from "@/api/schema"
import { failed, toast } from "@/components/ui/toast"
import { inputOf } from "./past"
import { redactedPlaces, withoutSecrets } from "./redacted"
import type { Input } from "./useInput"

export const pastInputsQuery = (key: string) =>
  queryOptions({
    queryKey: keys.inputs(key),
    queryFn: ({ signal }) => ask(api.GET("/api/inputs", { params: { query: { key, limit: 20 } }, signal })),
  })

/** Put an input of the past into the form. */
export function useFill({ fill }: Input): (past: PastInputData) => Promise<void> {
  return useCallback(
    async (past) => {
      try {
        const whole = Object.hasOwn(past, "input")
          ? past.input
          : (await inputOf(past.traceId, past.spanId)).value
        const secrets = redactedPlaces(whole)
        fill(withoutSecrets(whole))
        if (secrets.length > 0)
          toast({ title: "Secrets were not kept; give them again", text: secrets.join(", "), tone: "info" })
      } catch (error) {
        failed("That input could not be read")(error)
      }
    },
    [fill],
  )
}
