/**
 * A run from a page: started, followed and cancelled. It goes on when the page is left.
 *
 *     const { start, status, chunks, result, error, cancel } = useRun()
 *     await start({ key: "/flow/menuQA", input: "What is vegan?" })
 *
 * A page with much beside the stream takes `useFollower`, `useHead` and, only where they are shown, `useChunks`.
 */
import { useEffect, useState, useSyncExternalStore } from "react"
import { Follower, type RunHead, type RunState } from "@/api/follow"
import type { RunRequest } from "@/api/runs"
import type { RunInfo } from "@/api/schema"

interface UseRun extends RunState {
  start: (request: RunRequest) => Promise<RunInfo | undefined>
  cancel: () => Promise<void>
  attach: (run: RunInfo) => void
  show: (state: Partial<RunState>) => void
}

export function useRun(): UseRun {
  const follower = useFollower()
  const state = useSyncExternalStore(follower.subscribe, follower.snapshot)
  return {
    ...state,
    start: (request) => follower.start(request),
    cancel: () => follower.cancel(),
    attach: (run) => follower.attach(run),
    show: (shown) => follower.show(shown),
  }
}

export function useFollower(): Follower {
  const [follower] = useState(() => new Follower())
  useEffect(() => () => follower.leave(), [follower])
  return follower
}

/** Drawn again when the run begins, ends, or sends its first chunk. */
export function useHead(follower: Follower): RunHead {
  return useSyncExternalStore(follower.subscribe, follower.headSnapshot)
}

/** Drawn again with each frame in which chunks came. */
export function useChunks(follower: Follower): readonly unknown[] {
  return useSyncExternalStore(follower.subscribe, follower.snapshot).chunks
}
