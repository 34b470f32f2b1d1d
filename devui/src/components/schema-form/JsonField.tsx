/** A value that has no better control: its JSON, checked as it is typed. */
import { useEffect, useState } from "react"
import type { Field } from "./fields"
import { fieldId, useForm } from "./form"
import styles from "./form.module.css"
import { readJson, writeJson } from "./jsonText"
import { type Place, placeholder, Row, useControl } from "./Row"
import { sameJson } from "./values"

export function JsonField({
  place,
  field,
  value,
  why,
}: {
  place: Place
  field: Field
  value: unknown
  why?: string
}) {
  const form = useForm()
  const control = useControl(place, field)
  const [typed, setTyped] = useState(() => writeJson(value))
  const read = typed.trim() === "" ? { value: undefined } : readJson(typed)
  // While it is not JSON, the value is the last one that was; when that changes elsewhere, the text follows.
  const [last, setLast] = useState(value)
  if (!sameJson(last, value)) {
    setLast(value)
    if (read.problem !== undefined || !sameJson(read.value, value)) setTyped(writeJson(value))
  }
  const { broken } = form
  const wrong = read.problem !== undefined
  const place0 = place.path.join("\u0000")
  // biome-ignore lint/correctness/useExhaustiveDependencies: the path is made anew with each drawing, its text is not
  useEffect(() => {
    broken(place.path, wrong)
    return () => broken(place.path, false)
  }, [wrong, place0, broken])
  const id = fieldId(form, place.path)
  return (
    <Row place={place} field={field} value={value} type={why === undefined ? "JSON" : `JSON: ${why}`}>
      <div className={styles.stack}>
        <textarea
          {...control}
          aria-invalid={control["aria-invalid"] ?? (wrong || undefined)}
          aria-describedby={
            [control["aria-describedby"], wrong && `${id}-json`].filter(Boolean).join(" ") || undefined
          }
          className={styles.json}
          rows={place.path.length === 0 ? 5 : 2}
          spellCheck={false}
          value={typed}
          placeholder={placeholder(field, value) || "{ }"}
          onChange={(event) => {
            const text = event.target.value
            setTyped(text)
            const next = text.trim() === "" ? { value: undefined } : readJson(text)
            if (next.problem !== undefined) return
            setLast(next.value)
            form.edit(place.path, next.value)
          }}
        />
        {read.problem !== undefined && (
          <p className={styles.problem} id={`${id}-json`}>
            Line {read.problem.line}, column {read.problem.column}: {read.problem.message}
          </p>
        )}
      </div>
    </Row>
  )
}
