/**
 * Few files: a browser asks one host for six at a time, and each costs a round trip.
 *
 *     output: { codeSplitting: chunks() }
 *
 * What every page needs, and the page that is seen first, goes into the entry; `controls` and `shared` are what several
 * pages need. What only some load (the editor, Markdown, the graph) stays in files of its own.
 */
import type { Rolldown } from "vite"

type Context = Rolldown.ChunkingContext

const FIRST_PAGE = /src[\\/]features[\\/]home[\\/]HomePage\.tsx$/
const CONTROLS = /node_modules[\\/](@base-ui|@floating-ui)[\\/]/
const PARTS = /src[\\/](api|components(?![\\/]editor)|lib)[\\/]/

export function chunks(): Rolldown.CodeSplittingOptions {
  const known = new Map<string, boolean>()

  /** Whether the entry or the first page imports it, at once. */
  function isOfFirst(id: string, context: Context): boolean {
    const before = known.get(id)
    if (before !== undefined) return before
    known.set(id, false) // until it is known, for modules that import each other
    const info = context.getModuleInfo(id)
    const found =
      FIRST_PAGE.test(id) ||
      (info !== null && (info.isEntry || info.importers.some((one) => isOfFirst(one, context))))
    known.set(id, found)
    return found
  }

  return {
    includeDependenciesRecursively: false,
    groups: [
      { name: (id, context) => (isOfFirst(id, context) ? "main" : null), priority: 2 },
      { name: "controls", test: CONTROLS, minShareCount: 2, priority: 1 },
      { name: "shared", test: PARTS, minShareCount: 2, priority: 1 },
    ],
  }
}
