/**
 * What the runner's address says: whose input is taken (`from`, `span`), and which run is looked at (`run`).
 *
 *     const { setRun, take } = useAddress(action, { follower, run, onInput, bench })
 */
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useCallback, useEffect, useRef } from "react"
import type { Follower, RunHead } from "@/api/follow"
import { useEvents } from "@/api/live"
import type { ActionData } from "@/api/schema"
import { failed } from "@/components/ui/toast"
import { inputOf, keptRun, type PastInput, runOf } from "./past"

const NO_INPUT = failed("That input could not be read")
const NO_RUN = failed("That run is no longer there")

interface Follows {
  follower: Follower
  run: RunHead
  /** An input was taken from a trace. */
  onInput: (traceId: string, input: PastInput) => void
  /** The action has a bench, and this is its tab "Raw": the address goes on saying so. */
  bench: boolean
}

interface Address {
  /** The run that is looked at, from now on. */
  setRun: (id: string) => void
  /** Take the input of a trace. */
  take: (traceId: string, spanId?: string) => void
}

export function useAddress(action: ActionData, { follower, run, onInput, bench }: Follows): Address {
  const navigate = useNavigate()
  const { from, span, run: shown } = useSearch({ from: "/run/$kind/$" })
  const { runId, traceId } = run.run ?? {}
  const latest = useRef(onInput)
  latest.current = onInput

  const setSearch = useCallback(
    (search: { run?: string }) =>
      void navigate({
        to: ".",
        search: { ...(bench ? { tab: "raw" } : {}), ...search },
        replace: true,
      }),
    [navigate, bench],
  )
  const take = useCallback((id: string, spanId?: string) => {
    inputOf(id, spanId).then((input) => latest.current(id, input), NO_INPUT)
  }, [])
  const setRun = useCallback((id: string) => setSearch({ run: id }), [setSearch])

  // "Open in runner": once; then the input is a draft like any other.
  useEffect(() => {
    if (from === undefined) return
    let left = false
    inputOf(from, span).then(
      (input) => {
        if (left) return
        latest.current(from, input)
        setSearch({})
      },
      (error: unknown) => left || NO_INPUT(error),
    )
    return () => {
      left = true
    }
  }, [from, span, setSearch])

  // A run that the server knows is taken up again, another one is shown as its trace has it.
  useEffect(() => {
    if (shown === undefined || runId === shown || traceId === shown) return
    let left = false
    const look = async () => {
      const kept = await keptRun(shown)
      if (left) return
      if (kept !== undefined) follower.attach(kept)
      else {
        const past = await runOf(shown, action.key)
        if (!left) follower.show(past)
      }
    }
    look().catch((error: unknown) => left || NO_RUN(error))
    return () => {
      left = true
    }
  }, [shown, runId, traceId, action.key, follower])

  // One that was started elsewhere tells its end by its trace.
  useEvents("trace", ({ trace }) => {
    if (runId !== "" || !trace || trace.traceId !== traceId || trace.status === "running") return
    runOf(trace.traceId, action.key).then((past) => follower.show(past), NO_RUN)
  })

  return { setRun, take }
}
