/** The run as it is written now, to paste into a shell or a script. */
import { Copy } from "lucide-react"
import type { ActionData } from "@/api/schema"
import { rootNode } from "@/components/schema-form/schema"
import { withRequired } from "@/components/schema-form/values"
import { Button } from "@/components/ui/Button"
import { copyText } from "@/components/ui/CopyButton"
import { Menu, type MenuItem } from "@/components/ui/Menu"
import { type Call, cliCommand, devCurl, pythonScript, serveCurl } from "@/lib/copyAs"
import type { Input } from "./useInput"

export function CopyAs({ action, input }: { action: ActionData; input: Input }) {
  const call = (): Call => ({
    key: action.key,
    input: input.mode === "form" ? withRequired(input.value, rootNode(action.inputSchema)) : input.value,
    context: input.contextValue(),
    function: action.source?.function ?? undefined,
  })
  const copy = (name: string, text: (call: Call) => string | undefined) => async () => {
    const made = text(call())
    if (made !== undefined) await copyText(made, `Copied as ${name}`)
  }
  const flow = action.kind === "flow"
  const items: MenuItem[] = [
    ...(flow ? [{ label: "CLI", hint: "flowkit flow:run", onSelect: copy("CLI", cliCommand) }] : []),
    {
      label: "curl",
      hint: "this dev server",
      onSelect: copy("curl", (one) => devCurl(one, location.origin)),
    },
    ...(flow ? [{ label: "curl for serve", hint: "flowkit serve", onSelect: copy("curl", serveCurl) }] : []),
    { label: "Python", onSelect: copy("Python", pythonScript) },
    {
      label: "JSON",
      hint: "the input",
      onSelect: copy("JSON", ({ input: value }) => JSON.stringify(value ?? null, null, 2)),
    },
  ]
  return (
    <Menu
      label="Copy as"
      items={items.map((item) => ({ ...item, disabled: !input.ready }))}
      trigger={
        <Button size="s" variant="ghost" icon={<Copy aria-hidden />} disabled={!input.ready}>
          Copy as
        </Button>
      }
    />
  )
}
