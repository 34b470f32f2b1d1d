/** Dictionaries: rows of a key and its value. */
import { Plus, X } from "lucide-react"
import { useState } from "react"
import { Button, IconButton } from "@/components/ui/Button"
import { classes } from "@/lib/classes"
import { FieldView } from "./FieldView"
import type { Field } from "./fields"
import { useForm } from "./form"
import styles from "./form.module.css"
import { Group } from "./Group"
import { Hidden, MOST_ROWS } from "./ListField"
import type { Place } from "./Row"
import { fromEntries, initial } from "./values"

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
        : entries.slice(0, MOST_ROWS).map(([key, item], index) => (
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
      {entries.length > MOST_ROWS && <Hidden count={entries.length - MOST_ROWS} />}
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
