/** What goes with every turn: the system message, the model's settings, where its documents are from; and the whole as code. */
import { useQuery } from "@tanstack/react-query"
import { Copy, Trash2 } from "lucide-react"
import { actionsQuery } from "@/api/queries"
import type { ActionData } from "@/api/schema"
import { SchemaForm } from "@/components/schema-form/SchemaForm"
import { Button } from "@/components/ui/Button"
import { copyText } from "@/components/ui/CopyButton"
import { Menu } from "@/components/ui/Menu"
import { NumberField } from "@/components/ui/NumberField"
import { Section } from "@/components/ui/Section"
import { Select } from "@/components/ui/Select"
import { TextField } from "@/components/ui/TextField"
import { devCurl } from "@/lib/copyAs"
import { count, plural } from "@/lib/format"
import styles from "./ChatPage.module.css"
import { pythonGenerate } from "./copyAs"
import { type Abilities, requestFor, type Settings } from "./request"
import { before } from "./tree"
import type { Chat, Source } from "./useChat"

interface SettingsPanelProps {
  action: ActionData
  can: Abilities
  chat: Chat
  settings: Settings
  system: string
  onSystem: (system: string) => void
  onConfig: (config: unknown) => void
  source: Source
  onSource: (source: Source) => void
}

const NONE = "none"

export function SettingsPanel(props: SettingsPanelProps) {
  const { can, chat, settings, system, onSystem, onConfig, source, onSource } = props
  const retrievers = (useQuery(actionsQuery).data?.actions ?? []).filter((one) => one.kind === "retriever")
  return (
    <aside className={styles.settings} aria-label="Settings of the model">
      {can.systemRole && (
        <TextField
          label="System message"
          multiline
          value={system}
          onChange={onSystem}
          placeholder="How the model is to answer"
        />
      )}
      {retrievers.length > 0 && (
        <div className={styles.source}>
          <Select
            label="Answer from"
            showLabel
            value={source.retriever ?? NONE}
            onChange={(key) => onSource({ ...source, retriever: key === NONE ? undefined : key })}
            items={[
              { value: NONE, label: "No documents" },
              ...retrievers.map((one) => ({ value: one.key, label: one.name })),
            ]}
          />
          {source.retriever !== undefined && (
            <NumberField
              label="k"
              min={1}
              max={50}
              value={source.k}
              onChange={(k) => onSource({ ...source, k: k ?? 3 })}
            />
          )}
        </div>
      )}
      {can.config !== undefined && (
        <Section title="Settings">
          <SchemaForm schema={can.config} value={settings.config} onChange={onConfig} idPrefix="config" />
        </Section>
      )}
      {!can.multiturn && (
        <p className={styles.quiet}>This model takes one turn at a time: earlier ones are not sent.</p>
      )}
      <Totals chat={chat} />
      <div className={styles.row}>
        <CopyAs {...props} />
        <Button
          size="s"
          icon={<Trash2 aria-hidden />}
          disabled={chat.tree.turns.length === 0 || chat.running !== undefined}
          onClick={chat.clear}
        >
          New conversation
        </Button>
      </div>
    </aside>
  )
}

function Totals({ chat }: { chat: Chat }) {
  if (chat.shown.length === 0) return null
  const sum = (name: "inputTokens" | "outputTokens") => {
    const known = chat.shown.map((turn) => turn.reply.usage?.[name]).filter((value) => value !== undefined)
    return known.length === 0 ? undefined : known.reduce((all, one) => all + one, 0)
  }
  const [input, output] = [sum("inputTokens"), sum("outputTokens")]
  return (
    <p className={styles.quiet}>
      {plural(chat.shown.length, "turn")}
      {input !== undefined && `, ${count(input)} tokens in`}
      {output !== undefined && `, ${count(output)} tokens out`}
    </p>
  )
}

function CopyAs({ action, chat, settings }: SettingsPanelProps) {
  const last = chat.shown.at(-1)
  const turns = last === undefined ? [] : before(chat.tree, last)
  const text = last?.text ?? "Hello"
  const request = () => chat.lastRequest() ?? requestFor({ turns, text, ...settings })
  const copy = (name: string, made: () => string) => () => void copyText(made(), `Copied as ${name}`)
  return (
    <Menu
      label="Copy as"
      items={[
        {
          label: "Python",
          onSelect: copy("Python", () => pythonGenerate(action.name, { turns, text, ...settings })),
        },
        {
          label: "curl",
          hint: "this dev server",
          onSelect: copy("curl", () => devCurl({ key: action.key, input: request() }, location.origin)),
        },
        {
          label: "JSON",
          hint: "the request",
          onSelect: copy("JSON", () => JSON.stringify(request(), null, 2)),
        },
      ]}
      trigger={
        <Button size="s" icon={<Copy aria-hidden />} disabled={last === undefined}>
          Copy as
        </Button>
      }
    />
  )
}
