/** What the input can be filled with: examples of its schema, and inputs of the past. */
import { ChevronDown } from "lucide-react"
import type { ActionData, PastInputData } from "@/api/schema"
import { describe } from "@/components/schema-form/fields"
import { rootNode } from "@/components/schema-form/schema"
import { Button } from "@/components/ui/Button"
import { Menu, type MenuItem } from "@/components/ui/Menu"
import { bytes, when } from "@/lib/format"
import { exampleOf } from "./example"
import type { Input } from "./useInput"

interface FillMenuProps {
  action: ActionData
  input: Input
  past: readonly PastInputData[]
  onPick: (past: PastInputData) => void
}

export function FillMenu({ action, input, past, onPick }: FillMenuProps) {
  const items: MenuItem[] = []
  const add = (item: MenuItem) => {
    const same = items.filter(
      ({ label }) => label === item.label || label.startsWith(`${item.label} (`),
    ).length
    items.push(same === 0 ? item : { ...item, label: `${item.label} (${same + 1})` })
  }
  if (action.inputSchema !== undefined && action.inputSchema !== null) {
    const field = describe(rootNode(action.inputSchema))
    const given = field.examples.length > 0 ? field.examples : [exampleOf(field.node)]
    for (const example of given)
      if (example !== undefined)
        add({ label: preview(example), hint: "example", onSelect: () => input.fill(example) })
  }
  for (const one of past) {
    if (one.input !== undefined && given(items, one)) continue
    const label = Object.hasOwn(one, "input") ? preview(one.input) : bytes(one.sizeBytes)
    add({ label, hint: when(one.startTimeMs), onSelect: () => onPick(one) })
  }
  items.push({ label: "Clear the input", disabled: input.empty, onSelect: () => input.fill(undefined) })
  return (
    <Menu
      label="Fill the input"
      items={items}
      trigger={
        <Button size="s" variant="ghost" aria-label="Fill the input">
          Fill <ChevronDown aria-hidden />
        </Button>
      }
    />
  )
}

function given(items: readonly MenuItem[], past: PastInputData): boolean {
  return items.some(({ label, hint }) => hint === "example" && label === preview(past.input))
}

function preview(value: unknown): string {
  const text = typeof value === "string" ? value.replaceAll(/\s+/g, " ") : JSON.stringify(value)
  return text === "" ? '""' : text.length > 60 ? `${text.slice(0, 59)}…` : text
}
