/** What frames fields that hold fields: a name, the way to add or remove it, and what is within. */
import { Plus, X } from "lucide-react"
import type { ReactNode } from "react"
import { Button, IconButton } from "@/components/ui/Button"
import type { Field } from "./fields"
import { fieldId, useForm } from "./form"
import styles from "./form.module.css"
import { type Place, Problem, Star } from "./Row"
import { initial } from "./values"

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

export function Group({
  place,
  field,
  absent = false,
  removable = false,
  actions,
  children,
  quiet = false,
}: GroupProps) {
  const form = useForm()
  const id = `${fieldId(form, place.path)}${quiet ? "-any" : ""}`
  const wrong = !quiet && form.problem(place.path) !== undefined
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
      {hasContent(children) && <div className={styles.inner}>{children}</div>}
    </div>
  )
}

function hasContent(children: ReactNode): boolean {
  return Array.isArray(children)
    ? children.some((one) => one !== undefined && one !== false)
    : children !== undefined
}
