/** Fields that hold fields: objects, lists, tuples and dictionaries. */
import { ArrowDown, ArrowUp, Plus, X } from "lucide-react"
import { type ReactNode, useState } from "react"
import { Button, IconButton } from "@/components/ui/Button"
import { classes } from "@/lib/classes"
import { FieldView } from "./FieldView"
import { describe, type Field } from "./fields"
import { fieldId, useForm } from "./form"
import styles from "./form.module.css"
import { type Place, Problem, Star } from "./Row"
import { child, isRecord, type Node } from "./schema"
import { fromEntries, getAt, initial } from "./values"

interface GroupProps {
  place: Place
  field: Field
  /** Not there: only the way to add it is shown. */
  absent?: boolean
  /** It can be taken away again. */
  removable?: boolean
  actions?: ReactNode
  children?: ReactNode
  /** The one field within says what is wrong. */
  quiet?: boolean
}

export function Group({ place, field, absent = false, removable = false, actions, children }: GroupProps) {
  const form = useForm()
  const id = fieldId(form, place.path)
  const wrong = form.problem(place.path) !== undefined
  const about = [wrong && `${id}-problem`, field.description !== undefined && `${id}-hint`]
    .filter(Boolean)
    .join(" ")
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset's legend cannot stand in a line with buttons
    <div
      role="group"
      className={styles.group}
      aria-labelledby={`${id}-label`}
      aria-describedby={about || undefined}
      data-invalid={wrong || undefined}
      tabIndex={-1}
    >
      <div className={styles.head}>
        <span className={styles.label} id={`${id}-label`}>
          {place.label}
        </span>
        {place.required && <Star />}
        <span className={styles.type} />
        {absent && (
          <Button
            size="s"
            variant="ghost"
            icon={<Plus aria-hidden />}
            aria-label={`Add ${place.label}`}
            disabled={form.disabled}
            onClick={() =>
              form.edit(place.path, initial(field.node) ?? (field.kind === "object" ? {} : null))
            }
          >
            Add
          </Button>
        )}
        {actions}
        {removable && (
          <IconButton
            label={`Remove ${place.label}`}
            size="s"
            icon={<X aria-hidden />}
            disabled={form.disabled}
            onClick={() => form.edit(place.path, place.required ? null : undefined)}
          />
        )}
        {place.tools}
      </div>
      {field.description !== undefined && (
        <p className={styles.hint} id={`${id}-hint`}>
          {field.description}
        </p>
      )}
      {!quiet && <Problem path={place.path} />}
      {children !== undefined && <div className={styles.inner}>{children}</div>}
    </div>
  )
}

/** The properties, and keys that the schema does not know but the value has. */
export function Properties({
  field,
  value,
  path,
  hidden,
}: {
  field: Field & { kind: "object" }
  value: unknown
  path: Place["path"]
  /** The tag of a union, which its picker shows. */
  hidden?: string | undefined
}) {
  const known = new Set(field.properties.map(({ key }) => key))
  const others = isRecord(value) ? Object.keys(value).filter((key) => !known.has(key)) : []
  return (
    <>
      {field.properties
        .filter(({ key }) => key !== hidden)
        .map(({ key, node, required }) => (
          <FieldView
            key={key}
            name={key}
            node={node}
            path={[...path, key]}
            required={required}
            value={getAt(value, [key])}
          />
        ))}
      {others.map((key) => (
        <FieldView
          key={key}
          label={key}
          node={field.extra ?? child(field.node, true)}
          path={[...path, key]}
          required={false}
          value={getAt(value, [key])}
        />
      ))}
    </>
  )
}

export function ListField({
  place,
  field,
  value,
}: {
  place: Place
  field: Field & { kind: "array" | "tuple" }
  value: readonly unknown[] | null | undefined
}) {
  const form = useForm()
  const fixed = field.kind === "tuple" ? field.items.length : 0
  const more: Node | undefined = field.kind === "array" ? field.items : field.rest
  const rows = value ?? []
  const shown = Math.max(
    rows.length,
    value === undefined || value === null ? (place.required ? fixed : 0) : fixed,
  )
  const absent = fixed > 0 && shown === 0
  const set = (next: readonly unknown[]) => form.edit(place.path, next)
  const moved = (from: number, to: number) => {
    const next = [...rows]
    const [item] = next.splice(from, 1)
    next.splice(to, 0, item)
    set(next)
  }
  return (
    <Group
      place={place}
      field={field}
      absent={absent}
      removable={value !== undefined && value !== null && (!place.required || field.nullable)}
      actions={
        <>
          {(value === undefined || value === null) &&
            field.hasDefault &&
            Array.isArray(field.default) &&
            field.default.length > 0 && <span className={styles.type}>{JSON.stringify(field.default)}</span>}
          {more !== undefined && !absent && (
            <Button
              size="s"
              variant="ghost"
              icon={<Plus aria-hidden />}
              aria-label={`Add to ${place.label}`}
              disabled={form.disabled}
              onClick={() => set([...rows, initial(more) ?? null])}
            >
              Add
            </Button>
          )}
        </>
      }
    >
      {shown === 0
        ? undefined
        : Array.from({ length: shown }, (_, index) => {
            const node = index < fixed && field.kind === "tuple" ? field.items[index] : more
            const label = `${place.label} ${index + 1}`
            return (
              <FieldView
                // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
                key={index}
                node={node ?? child(field.node, true)}
                label={index < fixed && node !== undefined ? (describe(node).title ?? label) : label}
                path={[...place.path, index]}
                required
                bare={index >= fixed}
                value={rows[index]}
                tools={
                  index >= fixed && (
                    <>
                      <IconButton
                        label={`Move ${label} up`}
                        size="s"
                        icon={<ArrowUp aria-hidden />}
                        disabled={form.disabled || index <= fixed}
                        onClick={() => moved(index, index - 1)}
                      />
                      <IconButton
                        label={`Move ${label} down`}
                        size="s"
                        icon={<ArrowDown aria-hidden />}
                        disabled={form.disabled || index === rows.length - 1}
                        onClick={() => moved(index, index + 1)}
                      />
                      <IconButton
                        label={`Remove ${label}`}
                        size="s"
                        icon={<X aria-hidden />}
                        disabled={form.disabled}
                        onClick={() => set(rows.filter((_, other) => other !== index))}
                      />
                    </>
                  )
                }
              />
            )
          })}
    </Group>
  )
}

export function MapField({
  place,
  field,
  value,
}: {
  place: Place
  field: Field & { kind: "map" }
  value: Record<string, unknown> | null | undefined
}) {
  const form = useForm()
  const entries = Object.entries(value ?? {})
  const free = (): string => {
    for (let n = 1; ; n++) {
      const key = n === 1 ? "key" : `key ${n}`
      if (!entries.some(([used]) => used === key)) return key
    }
  }
  return (
    <Group
      place={place}
      field={field}
      removable={value !== undefined && value !== null && (!place.required || field.nullable)}
      actions={
        <Button
          size="s"
          variant="ghost"
          icon={<Plus aria-hidden />}
          aria-label={`Add to ${place.label}`}
          disabled={form.disabled}
          onClick={() =>
            form.edit(place.path, fromEntries([...entries, [free(), initial(field.values) ?? null]]))
          }
        >
          Add
        </Button>
      }
    >
      {entries.length === 0
        ? undefined
        : entries.map(([key, item], index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a key that is being typed is no identity
            <div className={styles.entry} key={index}>
              <KeyInput
                label={`Key ${index + 1} of ${place.label}`}
                value={key}
                taken={(other) => entries.some(([used]) => used === other)}
                disabled={form.disabled}
                onChange={(next) =>
                  form.edit(
                    place.path,
                    fromEntries(entries.map(([used, old]) => [used === key ? next : used, old])),
                  )
                }
              />
              <FieldView
                node={field.values}
                label={`${place.label} ${key}`}
                path={[...place.path, key]}
                required
                bare
                value={item}
                tools={
                  <IconButton
                    label={`Remove ${key} from ${place.label}`}
                    size="s"
                    icon={<X aria-hidden />}
                    disabled={form.disabled}
                    onClick={() =>
                      form.edit(place.path, fromEntries(entries.filter(([used]) => used !== key)))
                    }
                  />
                }
              />
            </div>
          ))}
    </Group>
  )
}

interface KeyProps {
  label: string
  value: string
  taken: (key: string) => boolean
  disabled: boolean
  onChange: (key: string) => void
}

/** A key that another row has is not taken over; the text stays as it is typed. */
function KeyInput({ label, value, taken, disabled, onChange }: KeyProps) {
  const [typed, setTyped] = useState<string>()
  const clash = typed !== undefined && typed !== value
  return (
    <input
      className={classes(styles.input, styles.key)}
      aria-label={label}
      title={clash ? "Another row has this key" : undefined}
      aria-invalid={clash || undefined}
      disabled={disabled}
      value={typed ?? value}
      onBlur={() => setTyped(undefined)}
      onChange={(event) => {
        const next = event.target.value
        if (next !== value && taken(next)) setTyped(next)
        else {
          setTyped(undefined)
          onChange(next)
        }
      }}
    />
  )
}
