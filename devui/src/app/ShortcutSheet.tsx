/** The keys, on one sheet: `?`. */

import { ShortcutList } from "@/components/ShortcutList"
import { Dialog } from "@/components/ui/Dialog"

export function ShortcutSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Keys" size="l">
      <ShortcutList />
    </Dialog>
  )
}
