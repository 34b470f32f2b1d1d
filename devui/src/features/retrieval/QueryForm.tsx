/** The query and everything that goes with it. Enter runs it in a field; Ctrl-Enter everywhere on the bench. */
import { Bookmark, BookmarkCheck, Columns2, Play, SlidersHorizontal, Square, X } from "lucide-react"
import type { ActionData } from "@/api/schema"
import { FilterField } from "@/components/documents/FilterField"
import { SchemaForm } from "@/components/schema-form/SchemaForm"
import { Button, IconButton } from "@/components/ui/Button"
import { Kbd } from "@/components/ui/Kbd"
import { NumberField } from "@/components/ui/NumberField"
import { Popover } from "@/components/ui/Popover"
import { Segmented } from "@/components/ui/Segmented"
import { Select } from "@/components/ui/Select"
import { TextField } from "@/components/ui/TextField"
import { useRunKey } from "@/components/useRunKey"
import { type Asked, optionsOf } from "./options"
import { usePinned } from "./pinned"
import styles from "./RetrievalBench.module.css"

type QueryFormProps = {
  action: ActionData
  draft: Asked
  onEdit: (change: Partial<Asked>) => void
  onRun: () => void
  onCancel: () => void
  busy: boolean
  whereError: string | undefined
  retrievers: readonly ActionData[]
  other: string | undefined
  onOther: (key: string | undefined) => void
  otherOptions: Record<string, unknown>
  onOtherOptions: (options: Record<string, unknown>) => void
  setOpen: boolean
  onSet: (open: boolean) => void
}

export function QueryForm(props: QueryFormProps) {
  const { action, draft, onEdit, onRun, onCancel, busy, retrievers, other, onOther } = props
  const known = optionsOf(action)
  const [pinned, pin] = usePinned()
  const isPinned = pinned.includes(draft.q.trim())
  const second = retrievers.find((each) => each.key === other)
  useRunKey(onRun)
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        onRun()
      }}
    >
      <div className={styles.ask}>
        <div className={styles.query}>
          <TextField
            label="Query"
            value={draft.q}
            onChange={(q) => onEdit({ q })}
            placeholder="What would somebody ask?"
          />
          <IconButton
            label={isPinned ? "Take out of the query set" : "Pin to the query set"}
            icon={isPinned ? <BookmarkCheck aria-hidden /> : <Bookmark aria-hidden />}
            aria-pressed={isPinned}
            disabled={draft.q.trim() === ""}
            onClick={() => {
              pin(draft.q.trim(), !isPinned)
              if (!isPinned) props.onSet(true)
            }}
          />
        </div>
        <div className={styles.k}>
          <NumberField
            label="k"
            value={draft.k}
            min={1}
            max={known.k?.most ?? 1000}
            onChange={(k) => k !== undefined && Number.isInteger(k) && k > 0 && onEdit({ k })}
          />
        </div>
        {busy ? (
          <Button icon={<Square aria-hidden />} onClick={onCancel}>
            Cancel
          </Button>
        ) : (
          <Button
            type="submit"
            variant="primary"
            icon={<Play aria-hidden />}
            disabled={draft.q.trim() === ""}
          >
            Run <Kbd keys="Mod+Enter" />
          </Button>
        )}
      </div>
      <div className={styles.refine}>
        {known.where && (
          <div className={styles.where}>
            <FilterField
              value={draft.where}
              onChange={(where) => onEdit({ where })}
              store={action.index?.name}
              error={props.whereError}
            />
          </div>
        )}
        <SideOptions
          action={action}
          options={draft.options}
          onChange={(options) => onEdit({ options })}
          name={second === undefined ? "Options" : "Options of the left"}
        />
        <div className={styles.compare}>
          <Columns2 aria-hidden size={14} />
          <Select
            label="Compare with"
            value={other ?? "none"}
            onChange={(key) => onOther(key === "none" ? undefined : key)}
            items={[
              { value: "none", label: "Compare with…" },
              ...retrievers.map((each) => ({
                value: each.key,
                label: each.key === action.key ? `${each.name} (other options)` : each.name,
              })),
            ]}
          />
          {other !== undefined && (
            <IconButton
              label="Stop comparing"
              size="s"
              icon={<X aria-hidden />}
              onClick={() => onOther(undefined)}
            />
          )}
        </div>
        {second !== undefined && (
          <SideOptions
            action={second}
            options={props.otherOptions}
            onChange={props.onOtherOptions}
            name="Options of the right"
          />
        )}
        <Button
          variant="ghost"
          icon={<Bookmark aria-hidden />}
          aria-pressed={props.setOpen}
          onClick={() => props.onSet(!props.setOpen)}
        >
          Query set{pinned.length > 0 && ` (${pinned.length})`}
        </Button>
      </div>
    </form>
  )
}

type SideOptionsProps = {
  action: ActionData
  options: Record<string, unknown>
  onChange: (options: Record<string, unknown>) => void
  name: string
}

/** How a store searches, and the options that the action has beside. */
export function SideOptions({ action, options, onChange, name }: SideOptionsProps) {
  const known = optionsOf(action)
  const { mode, ...others } = options
  const given = Object.keys(others).length
  return (
    <div className={styles.side}>
      {known.modes.length > 0 && (
        <Segmented
          label={name === "Options" ? "Search mode" : name.replace("Options", "Search mode")}
          value={typeof mode === "string" ? mode : (action.index?.mode ?? "default")}
          onChange={(chosen) =>
            onChange(
              chosen === action.index?.mode || chosen === "default" ? others : { ...others, mode: chosen },
            )
          }
          items={[
            ...(action.index ? [] : [{ value: "default", label: "default" }]),
            ...known.modes.map((each) => ({ value: each, label: each })),
          ]}
        />
      )}
      {known.rest !== undefined && (
        <Popover
          label={name}
          trigger={
            <Button variant="ghost" icon={<SlidersHorizontal aria-hidden />}>
              {name}
              {given > 0 && ` (${given})`}
            </Button>
          }
        >
          <div className={styles.options}>
            <SchemaForm
              schema={known.rest as never}
              value={others}
              onChange={(value: unknown) =>
                onChange({
                  ...((value ?? {}) as Record<string, unknown>),
                  ...(mode === undefined ? {} : { mode }),
                })
              }
            />
          </div>
        </Popover>
      )}
    </div>
  )
}
