/**
 * A run from a page: started, followed and cancelled. It goes on when the page is left.
 *
 *     const { start, status, chunks, result, error, cancel } = useRun()
 *     await start({ key: "/flow/menuQA", input: "What is vegan?" })
 */
import { useEffect, useState, useSyncExternalStore } from "react"
import type { RunInfo } from "@/api/schema"
import { Follower, type RunRequest, type RunState } from "./follow"

export interface UseRun extends RunState {
  start: (request: RunRequest) => Promise<RunInfo | undefined>
  cancel: () => Promise<void>
  attach: (run: RunInfo) => void
  show: (state: Partial<RunState>) => void
}

export function useRun(): UseRun {
  const [follower] = useState(() => new Follower())
  const state = useSyncExternalStore(follower.subscribe, follower.snapshot)
  useEffect(() => () => follower.leave(), [follower])
  return {
    ...state,
    start: (request) => follower.start(request),
    cancel: () => follower.cancel(),
    attach: (run) => follower.attach(run),
    show: (shown) => follower.show(shown),
  }
}
