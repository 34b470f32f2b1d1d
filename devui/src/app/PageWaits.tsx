/** The code of a page is on its way. */
import { Skeleton } from "@/components/ui/Skeleton"

export function PageWaits() {
  return <Skeleton lines={8} />
}
