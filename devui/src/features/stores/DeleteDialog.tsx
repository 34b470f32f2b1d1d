/** Asks before documents are deleted, with how many there are. */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { keys } from "@/api/queries"
import { Confirm } from "@/components/ui/Confirm"
import { Failure } from "@/components/ui/Failure"
import { Skeleton } from "@/components/ui/Skeleton"
import { toast } from "@/components/ui/toast"
import { plural } from "@/lib/format"
import { deleteDocuments, type Selector } from "./queries"

export type ToDelete = {
  selector: Selector
  /** Goes after "3 documents". */
  what: string
}

type DeleteDialogProps = {
  store: string
  wanted: ToDelete | undefined
  onClose: () => void
  onDeleted: () => void
}

export function DeleteDialog({ store, wanted, onClose, onDeleted }: DeleteDialogProps) {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const counted = useQuery({
    queryKey: ["store-count", store, wanted?.selector],
    queryFn: () => deleteDocuments(store, wanted?.selector ?? { ids: [] }, true),
    enabled: wanted !== undefined,
    gcTime: 0,
    staleTime: 0,
    retry: false,
  })
  const close = () => {
    setError(undefined)
    onClose()
  }
  const remove = async () => {
    if (wanted === undefined || counted.data === undefined) return
    setBusy(true)
    setError(undefined)
    try {
      const deleted = await deleteDocuments(store, wanted.selector)
      toast({ title: `${plural(deleted, "document")} deleted`, text: store, tone: "ok" })
      close()
      onDeleted()
      await client.invalidateQueries({ queryKey: keys.stores })
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  const number = counted.data
  return (
    <Confirm
      open={wanted !== undefined}
      onClose={close}
      onConfirm={() => void remove()}
      title={number === undefined ? "Delete documents" : `Delete ${plural(number, "document")}?`}
      confirmLabel={number === undefined ? "Delete" : `Delete ${plural(number, "document")}`}
      danger
      busy={busy || number === undefined}
    >
      {counted.isPending && <Skeleton lines={2} />}
      {counted.isError && <Failure error={counted.error} />}
      {number !== undefined && (
        <p>
          {plural(number, "document")} {wanted?.what}. They go from the index at once, with their vectors; the
          files they are from stay, and can be indexed again.
        </p>
      )}
      {error !== undefined && <Failure error={error} />}
    </Confirm>
  )
}
