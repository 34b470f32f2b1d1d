/** Filters with a name: use one, keep the one that is set, forget one. */
import { Bookmark, Trash2 } from "lucide-react"
import { type FormEvent, useState } from "react"
import { Button, IconButton } from "@/components/ui/Button"
import { Popover } from "@/components/ui/Popover"
import { TextField } from "@/components/ui/TextField"
import { filterOf, isFiltered, type Search } from "./filter"
import { forget, save, savedFilters } from "./saved"
import styles from "./TracesPage.module.css"

interface SavedFiltersProps {
  search: Search
  onUse: (search: Search) => void
}

export function SavedFilters({ search, onUse }: SavedFiltersProps) {
  const [kept, setKept] = useState(savedFilters)
  const [name, setName] = useState("")
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() === "") return
    setKept(save(name.trim(), filterOf(search)))
    setName("")
  }
  return (
    <Popover
      label="Saved filters"
      trigger={
        <Button size="s" variant="ghost" icon={<Bookmark aria-hidden />}>
          Saved{kept.length > 0 ? ` ${kept.length}` : ""}
        </Button>
      }
    >
      <div className={styles.saved}>
        {kept.length === 0 && <p className={styles.dim}>No filter has been saved in this browser.</p>}
        <ul>
          {kept.map((filter) => (
            <li key={filter.name}>
              <Button size="s" variant="ghost" onClick={() => onUse(filter.search)}>
                {filter.name}
              </Button>
              <IconButton
                label={`Forget ${filter.name}`}
                size="s"
                icon={<Trash2 aria-hidden />}
                onClick={() => setKept(forget(filter.name))}
              />
            </li>
          ))}
        </ul>
        {isFiltered(search) && (
          <form onSubmit={submit} className={styles.saveForm}>
            <TextField label="Name of this filter" value={name} onChange={setName} />
            <Button type="submit" size="s" disabled={name.trim() === ""}>
              Save
            </Button>
          </form>
        )}
      </div>
    </Popover>
  )
}
