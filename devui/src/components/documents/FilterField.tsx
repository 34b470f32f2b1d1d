/** A condition on metadata as text, and a small form that writes it: keys and their types come from the store. */
import { useQuery } from "@tanstack/react-query"
import { Filter, Plus } from "lucide-react"
import { useState } from "react"
import { api, ask } from "@/api/client"
import { keys } from "@/api/queries"
import { Button, IconButton } from "@/components/ui/Button"
import { Popover } from "@/components/ui/Popover"
import { Select } from "@/components/ui/Select"
import { TextField } from "@/components/ui/TextField"
import { condition, type FilterOperator, joined, typedValue } from "@/lib/filterText"
import styles from "./documents.module.css"

type FilterFieldProps = {
  value: string
  onChange: (value: string) => void
  /** The name of the index, to know its keys. */
  store?: string | undefined
  error?: string | undefined
}

export function FilterField({ value, onChange, store, error }: FilterFieldProps) {
  const { data } = useQuery({
    queryKey: [...keys.stores, "stats", store],
    queryFn: ({ signal }) =>
      ask(api.GET("/api/stores/stats", { params: { query: { store: store ?? "" } }, signal })),
    enabled: store !== undefined,
    retry: false,
  })
  const types = data?.store.keyTypes ?? {}
  return (
    <div className={styles.filter}>
      <TextField
        label="Filter"
        value={value}
        onChange={onChange}
        placeholder="price < 10 AND source = 'menu.pdf'"
        {...(error === undefined ? {} : { error })}
      />
      {Object.keys(types).length > 0 && (
        <Popover
          label="Add a condition"
          trigger={<IconButton label="Add a condition" icon={<Filter aria-hidden />} />}
        >
          <Builder types={types} onAdd={(term) => onChange(joined(value, term))} />
        </Popover>
      )}
    </div>
  )
}

const WORDS: [FilterOperator, string][] = [
  ["=", "is"],
  ["!=", "is not"],
  ["<", "below"],
  ["<=", "at most"],
  [">", "above"],
  [">=", "at least"],
  ["CONTAINS", "contains"],
]

function Builder({ types, onAdd }: { types: Record<string, string[]>; onAdd: (term: string) => void }) {
  const names = Object.keys(types).sort()
  const [name, setName] = useState(names.find((each) => each !== "content_hash") ?? "")
  const [operator, setOperator] = useState<string>("=")
  const [text, setText] = useState("")
  const known = types[name] ?? []
  const operators = WORDS.filter(
    ([each]) => each === "=" || each === "!=" || !(known.length === 1 && known[0] === "bool"),
  )
  const term = condition(name, operator as FilterOperator, typedValue(text, known))
  return (
    <form
      className={styles.builder}
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        if (text !== "") onAdd(term)
      }}
    >
      <Select
        label="Key"
        value={name}
        onChange={setName}
        items={names.map((each) => ({ value: each, label: `${each} · ${(types[each] ?? []).join(", ")}` }))}
      />
      <Select
        label="Comparison"
        value={operator}
        onChange={setOperator}
        items={operators.map(([each, word]) => ({ value: each, label: word }))}
      />
      <TextField label="Value" value={text} onChange={setText} />
      <Button type="submit" variant="primary" icon={<Plus aria-hidden />} disabled={text === ""}>
        Add
      </Button>
      <code className={styles.term}>{text === "" ? " " : term}</code>
    </form>
  )
}
