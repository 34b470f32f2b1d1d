/**
 * One side of a comparison: its outline, its tree, and the whole input and output of its first span.
 *
 *     const a = useSide(id)
 */
import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { keys } from "@/api/queries"
import type { Summary } from "@/api/schema"
import { fetchValue } from "@/features/trace/details/useValue"
import { spanOfOutline } from "@/features/trace/model/span"
import { type Tree, treeOf } from "@/features/trace/model/tree"
import { outlineQuery } from "@/features/trace/useTrace"

/** Above this, two values are too big to be compared as text. */
const MOST_BYTES = 2_000_000

export interface Side {
  id: string
  summary: Summary | undefined
  tree: Tree
  input: unknown
  output: unknown
  tooBig: boolean
  loading: boolean
  error: unknown
  retry: () => void
}

export function useSide(id: string): Side {
  const outline = useQuery(outlineQuery(id))
  const tree = useMemo(() => treeOf((outline.data?.spans ?? []).map(spanOfOutline)), [outline.data])
  const root = tree.roots[0]?.span
  const tooBig = root !== undefined && Math.max(root.inputBytes, root.outputBytes) > MOST_BYTES
  const values = useQuery({
    queryKey: [...keys.trace(id), "root", root?.id, root?.end],
    queryFn: async ({ signal }) => {
      if (root === undefined) return { input: undefined, output: undefined }
      const [input, output] = await Promise.all([
        fetchValue(id, root, "input", signal),
        fetchValue(id, root, "output", signal),
      ])
      return { input, output }
    },
    enabled: root !== undefined && !tooBig,
  })
  return {
    id,
    summary: outline.data?.summary,
    tree,
    input: values.data?.input,
    output: values.data?.output,
    tooBig,
    loading: outline.isPending || (root !== undefined && !tooBig && values.isPending),
    error: outline.error ?? values.error,
    retry: () => {
      outline.refetch()
      values.refetch()
    },
  }
}
