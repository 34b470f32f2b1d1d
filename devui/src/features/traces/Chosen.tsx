/** What can be done with the traces that are selected. */
import { useNavigate } from "@tanstack/react-router"
import { Columns2, Download, Trash2, X } from "lucide-react"
import { useState } from "react"
import { Button, IconButton } from "@/components/ui/Button"
import { Confirm } from "@/components/ui/Confirm"
import { failed, toast } from "@/components/ui/toast"
import { plural } from "@/lib/format"
import styles from "./TracesPage.module.css"
import { deleteTraces, exportTraces } from "./transfer"

interface ChosenProps {
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
}

export function Chosen({ chosen, onChoose }: ChosenProps) {
  const navigate = useNavigate()
  const [asks, setAsks] = useState(false)
  const ids = [...chosen]
  const remove = async () => {
    setAsks(false)
    try {
      const deleted = await deleteTraces({ ids })
      toast({ title: `${plural(deleted, "trace")} deleted`, tone: "ok" })
      onChoose(new Set())
    } catch (error) {
      failed("They could not be deleted")(error)
    }
  }
  return (
    <section className={styles.chosen} aria-label="Selected traces">
      <strong>{chosen.size} selected</strong>
      <Button
        size="s"
        icon={<Columns2 aria-hidden />}
        disabled={ids.length !== 2}
        title={ids.length === 2 ? undefined : "Select two"}
        onClick={() => {
          const [a, b] = ids
          if (a !== undefined && b !== undefined) navigate({ to: "/compare", search: { a, b } })
        }}
      >
        Compare
      </Button>
      <Button size="s" icon={<Download aria-hidden />} onClick={() => exportTraces(ids)}>
        Export
      </Button>
      <Button size="s" variant="danger" icon={<Trash2 aria-hidden />} onClick={() => setAsks(true)}>
        Delete
      </Button>
      <IconButton label="Select none" size="s" icon={<X aria-hidden />} onClick={() => onChoose(new Set())} />
      <Confirm
        open={asks}
        onClose={() => setAsks(false)}
        onConfirm={remove}
        title={`Delete ${plural(chosen.size, "trace")}?`}
        confirmLabel="Delete"
        danger
      >
        Spans and logs are removed from the project. They cannot be brought back, except from an export.
      </Confirm>
    </section>
  )
}
