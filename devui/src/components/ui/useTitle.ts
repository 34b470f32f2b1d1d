/** The title of the browser's tab: `useTitle("Traces")`. */
import { useEffect } from "react"

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? "flowkit" : `${title} · flowkit`
  }, [title])
}
