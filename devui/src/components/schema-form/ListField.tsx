/** Lists, whose rows are added, moved and removed; and tuples, which begin with rows of their own. */
import { ArrowDown, ArrowUp, Plus, X } from "lucide-react"
import { Button, IconButton } from "@/components/ui/Button"
import { count } from "@/lib/format"
import { FieldView } from "./FieldView"
import { describe, type Field } from "./fields"
import { useForm } from "./form"
import styles from "./form.module.css"
import { Group } from "./Group"
import type { Place } from "./Row"
import { child, type Node } from "./schema"
import { initial } from "./values"

/** Each row is a handful of elements; thousands would hold the page. */
export const MOST_ROWS = 200

export function Hidden({ count: rows }: { count: number }) {
  return <p className={styles.hint}>{count(rows)} more are kept as they are; JSON shows them.</p>
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
  const all = Math.max(
    rows.length,
    value === undefined || value === null ? (place.required ? fixed : 0) : fixed,
  )
  const shown = Math.min(all, MOST_ROWS)
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
      {all > shown && <Hidden count={all - shown} />}
    </Group>
  )
}
