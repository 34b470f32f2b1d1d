/** Which actions are shown: those of a kind, with all words that were typed in name, kind or description. */
import type { ActionData } from "@/api/schema"
import { shownKind, sortKinds } from "@/lib/kinds"

export function chosenActions(
  actions: readonly ActionData[],
  { kind, q }: { kind: string | undefined; q: string },
): ActionData[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  const order = sortKinds(new Set(actions.map((action) => action.kind)))
  return actions
    .filter((action) => kind === undefined || action.kind === kind)
    .filter((action) => {
      const text = `${action.name} ${shownKind(action.kind)} ${action.description ?? ""}`.toLowerCase()
      return words.every((word) => text.includes(word))
    })
    .sort(
      (a, b) =>
        order.indexOf(a.kind) - order.indexOf(b.kind) ||
        a.name.localeCompare(b.name, "en", { numeric: true }),
    )
}
