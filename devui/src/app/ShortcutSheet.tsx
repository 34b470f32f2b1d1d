/** The keys, on one sheet: `?`. */
import { Dialog } from "@/components/ui/Dialog"
import { ShortcutList } from "./ShortcutList"

export function ShortcutSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Keys" size="l">
      <ShortcutList />
    </Dialog>
  )
}
