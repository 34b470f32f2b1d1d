/** The way to a trace, or to one of its spans: `<TraceLink traceId={id} />`. */
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"

interface TraceLinkProps {
  traceId: string
  spanId?: string | undefined
  children?: ReactNode
}

export function TraceLink({ traceId, spanId, children }: TraceLinkProps) {
  return (
    <Link
      to="/traces/$id"
      params={{ id: traceId }}
      search={spanId === undefined ? {} : { span: spanId }}
      aria-label={children === undefined ? `Trace ${traceId.slice(0, 8)}` : undefined}
    >
      {children ?? <code>{traceId.slice(0, 8)}</code>}
    </Link>
  )
}
