/**
 * A form for a JSON Schema. It edits the value in place, so whatever it does not know stays as it is.
 *
 *     <SchemaForm schema={action.inputSchema} value={input} onChange={setInput} errors={errors} />
 */
import { useCallback, useId, useMemo, useRef } from "react"
import { serverErrors } from "./check"
import { FieldView } from "./FieldView"
import { describe } from "./fields"
import { type Form, FormContext } from "./form"
import styles from "./form.module.css"
import { titleOf } from "./labels"
import { Properties } from "./Properties"
import { Problem } from "./Row"
import { rootNode } from "./schema"
import { fits, type Path, samePathKey, setAt } from "./values"

interface SchemaFormProps {
  schema: unknown
  /** undefined: nothing is given. */
  value: unknown
  onChange: (value: unknown) => void
  /** Paths are places in the value, or pydantic's locations as the server writes them: `pet.cat.lives`. */
  errors?: readonly { readonly path: string | Path; readonly message: string }[] | undefined
  idPrefix?: string | undefined
  disabled?: boolean | undefined
  /** Whether every JSON field holds JSON; as long as one does not, the value is an older one. */
  onValidity?: ((valid: boolean) => void) | undefined
  /** What the whole is called, where it is one field. */
  label?: string | undefined
}

const NONE: NonNullable<SchemaFormProps["errors"]> = []

export function SchemaForm(props: SchemaFormProps) {
  const { schema, value, onChange, errors = NONE, idPrefix, disabled = false, onValidity, label } = props
  const ownId = useId()
  const node = useMemo(() => rootNode(schema), [schema])
  const field = useMemo(() => describe(node), [node])
  const now = useRef(value)
  now.current = value
  const change = useRef(onChange)
  change.current = onChange
  const validity = useRef(onValidity)
  validity.current = onValidity
  const brokenPlaces = useRef<Set<string>>(new Set())

  const edit = useCallback((path: Path, next: unknown) => {
    now.current = setAt(now.current, path, next)
    change.current(now.current)
  }, [])
  const broken = useCallback((path: Path, is: boolean) => {
    const places = brokenPlaces.current
    const before = places.size === 0
    if (is) places.add(samePathKey(path))
    else places.delete(samePathKey(path))
    if (before !== (places.size === 0)) validity.current?.(places.size === 0)
  }, [])
  const problems = useMemo(() => {
    const texts = errors.filter(
      (error): error is { path: string; message: string } => typeof error.path === "string",
    )
    const places = errors.filter(
      (error): error is { path: Path; message: string } => typeof error.path !== "string",
    )
    const all = [...places, ...serverErrors(texts, node, value)]
    return new Map(all.map(({ path, message }) => [samePathKey(path), message]))
  }, [errors, node, value])
  const form = useMemo<Form>(
    () => ({
      id: idPrefix ?? ownId,
      disabled,
      edit,
      broken,
      problem: (path) => problems.get(samePathKey(path)),
    }),
    [idPrefix, ownId, disabled, edit, broken, problems],
  )
  const open = field.kind === "object" && value !== null && fits(field, value)
  return (
    <FormContext value={form}>
      <div className={styles.form}>
        {open ? (
          <>
            <Problem path={[]} />
            {field.properties.length === 0 && <p className={styles.hint}>It takes no fields.</p>}
            <Properties field={field} value={value} path={[]} />
          </>
        ) : (
          <FieldView
            node={node}
            path={[]}
            required={!field.hasDefault}
            label={label ?? titleOf(field, undefined)}
            value={value}
          />
        )}
      </div>
    </FormContext>
  )
}
