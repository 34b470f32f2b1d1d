/** A trace in one line: how it stands, what it took, what it cost. */
import { Link } from "@tanstack/react-router"
import { type ReactNode, useMemo } from "react"
import type { SpanOutline, Summary } from "@/api/schema"
import { Duration } from "@/components/Duration"
import { KindTag } from "@/components/KindTag"
import { StatusTag } from "@/components/StatusTag"
import { TimeAgo } from "@/components/TimeAgo"
import { Badge } from "@/components/ui/Badge"
import { CopyButton } from "@/components/ui/CopyButton"
import { bytes, plural } from "@/lib/format"
import { costOf } from "./model/cost"
import { spanOfOutline, type Tokens, tokensOf, tokensText } from "./model/span"
import styles from "./TracePage.module.css"

interface SummaryLineProps {
  summary: Summary | undefined
  spans: readonly SpanOutline[] | undefined
}

export function SummaryLine({ summary, spans }: SummaryLineProps) {
  const cost = useMemo(() => costOf(spans ?? []), [spans])
  const tokens = useMemo(() => sumOf(spans ?? []), [spans])
  if (summary === undefined) return null
  return (
    <dl className={styles.facts}>
      <Fact name="Status">
        <StatusTag status={summary.status} />
      </Fact>
      <Fact name="Kind">
        <KindTag kind={summary.kind} />
      </Fact>
      <Fact name="Duration">
        <Duration ms={summary.durationMs} />
      </Fact>
      <Fact name="Tokens" seen>
        {tokens === undefined ? "—" : <span title="Sum of all models: in → out">{tokensText(tokens)}</span>}
      </Fact>
      <Fact name="Cost" seen>
        <span title={cost === undefined ? "No price is known" : "As its models told"}>
          {cost === undefined ? "—" : `$${cost.toPrecision(3)}`}
        </span>
      </Fact>
      <Fact name="Spans">{plural(summary.spans, "span")}</Fact>
      <Fact name="Size">{bytes(summary.sizeBytes)}</Fact>
      <Fact name="Started">
        <TimeAgo ms={summary.startTimeMs} />
      </Fact>
      <Fact name="Trace">
        <code title={summary.traceId}>{summary.traceId.slice(0, 8)}</code>
        <CopyButton text={summary.traceId} label="Copy trace id" />
      </Fact>
      {Object.entries(summary.labels).map(([name, value]) => (
        <Fact key={name} name="Label">
          <Link to="/traces" search={{ label: `${name}=${value}` }}>
            <Badge>
              {name}={value}
            </Badge>
          </Link>
        </Fact>
      ))}
    </dl>
  )
}

interface FactProps {
  name: string
  /** The name is not only for those who listen. */
  seen?: boolean
  children: ReactNode
}

function Fact({ name, seen = false, children }: FactProps) {
  return (
    <div className={seen ? styles.named : undefined}>
      <dt>{seen ? name.toLowerCase() : name}</dt>
      <dd data-fact={name.toLowerCase()}>{children}</dd>
    </div>
  )
}

function sumOf(spans: readonly SpanOutline[]): Tokens | undefined {
  let sum: Tokens | undefined
  for (const outline of spans) {
    const tokens = outline.kind === "model" ? tokensOf(spanOfOutline(outline)) : undefined
    if (tokens === undefined) continue
    sum = { input: (sum?.input ?? 0) + tokens.input, output: (sum?.output ?? 0) + tokens.output }
  }
  return sum
}
