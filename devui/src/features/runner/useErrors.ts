/**
 * What is wrong with an input: found before a run by the browser and the server, and while it is corrected.
 *
 *     const errors = useErrors(action, input.value)
 *     if (await errors.check(value)) start()
 */
import { useCallback, useMemo, useState } from "react"
import { api, ask } from "@/api/client"
import type { ActionData } from "@/api/schema"
import { check, type FieldProblem, serverErrors, stillWrong } from "@/components/schema-form/check"
import { rootNode } from "@/components/schema-form/schema"

interface InputErrors {
  shown: readonly FieldProblem[]
  /** False: it is refused, and `shown` says why. `attempt` grows with each refusal. */
  check: (value: unknown) => Promise<boolean>
  attempt: number
}

interface Told {
  errors: readonly FieldProblem[]
  /** The value that they are about. */
  value: unknown
}

export function useErrors(action: ActionData, value: unknown): InputErrors {
  const node = useMemo(() => rootNode(action.inputSchema), [action.inputSchema])
  const [told, setTold] = useState<Told>()
  const [attempt, setAttempt] = useState(0)
  const shown = useMemo(
    () =>
      told === undefined
        ? []
        : told.value === value
          ? told.errors
          : stillWrong(told.errors, told.value, value, node),
    [told, value, node],
  )

  const refuse = useCallback((errors: readonly FieldProblem[], about: unknown) => {
    setTold({ errors, value: about })
    setAttempt((now) => now + 1)
  }, [])

  const checkInput = useCallback(
    async (asked: unknown): Promise<boolean> => {
      if (action.inputSchema === undefined || action.inputSchema === null) {
        setTold(undefined)
        return true
      }
      const own = check(asked, node)
      const body = asked === undefined ? { key: action.key } : { key: action.key, input: asked }
      // Pydantic has the last word, either way. Without an answer, ours counts: the run would be refused as well.
      const answer = await ask(api.POST("/api/validate", { body: body as never })).catch(() => undefined)
      if (answer?.checked === true) {
        if (answer.valid) {
          setTold(undefined)
          return true
        }
        const errors = serverErrors(answer.errors ?? [], node, asked)
        refuse(errors.length > 0 ? errors : own, asked)
        return false
      }
      if (own.length === 0) {
        setTold(undefined)
        return true
      }
      refuse(own, asked)
      return false
    },
    [action.key, action.inputSchema, node, refuse],
  )

  return {
    shown,
    check: checkInput,
    attempt,
  }
}
