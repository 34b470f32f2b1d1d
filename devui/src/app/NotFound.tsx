/** An address that is none of ours. */
import { SearchX } from "lucide-react"
import { LinkButton } from "@/components/ui/Button"
import { Empty } from "@/components/ui/Empty"
import { useTitle } from "@/components/ui/useTitle"

export function NotFound() {
  useTitle("Not found")
  return (
    <Empty
      icon={<SearchX aria-hidden />}
      title="There is no such page"
      text={<h1 style={{ fontWeight: 400 }}>{location.pathname}</h1>}
      action={<LinkButton to="/">Go home</LinkButton>}
    />
  )
}
