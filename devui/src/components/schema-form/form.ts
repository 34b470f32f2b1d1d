/** What every field of a form knows about the form that it is in. */
import { createContext, useContext } from "react"
import type { Path } from "./values"

export interface Form {
  readonly id: string
  readonly disabled: boolean
  /** Another value at a place; undefined leaves it out. */
  readonly edit: (path: Path, next: unknown) => void
  /** What is wrong at a place. */
  readonly problem: (path: Path) => string | undefined
  /** A JSON field says that its text is none, or is one again. */
  readonly broken: (path: Path, is: boolean) => void
}

export const FormContext = createContext<Form | undefined>(undefined)

export function useForm(): Form {
  const form = useContext(FormContext)
  if (form === undefined) throw new Error("a field stands outside of a SchemaForm")
  return form
}

/** One for each place: a path as part of an id, which may hold no space. */
export function fieldId(form: Form, path: Path): string {
  return [form.id, ...path.map((step) => encodeURIComponent(step))].join(".")
}

/** The first place that is wrong gets the focus: `focusFirstProblem(formElement)`. */
export function focusFirstProblem(container: HTMLElement | null): void {
  const first = container?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid="true"]')
  first?.focus()
  first?.scrollIntoView({ block: "nearest" })
}
