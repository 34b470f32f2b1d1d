/** Two runs side by side: what went in and came out, how long each step took, which documents were found. */
import { useNavigate, useSearch } from "@tanstack/react-router"
import { ArrowLeftRight } from "lucide-react"
import { DiffView } from "@/components/DiffView"
import { Duration } from "@/components/Duration"
import { KindTag } from "@/components/KindTag"
import { StatusTag } from "@/components/StatusTag"
import { TimeAgo } from "@/components/TimeAgo"
import { TraceLink } from "@/components/TraceLink"
import { Button, LinkButton } from "@/components/ui/Button"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { PageHeader } from "@/components/ui/PageHeader"
import { Section } from "@/components/ui/Section"
import { Skeleton } from "@/components/ui/Skeleton"
import { Switch } from "@/components/ui/Switch"
import { count } from "@/lib/format"
import styles from "./ComparePage.module.css"
import { Found } from "./Found"
import { sortedJson } from "./model"
import { SpanTable } from "./SpanTable"
import { type Side, useSide } from "./useSide"

export function ComparePage() {
  const { a, b } = useSearch({ from: "/compare" })
  if (a === undefined || b === undefined) {
    return (
      <div className={styles.page}>
        <PageHeader title="Compare" />
        <Empty
          title="Two traces are compared"
          text="Select two in the list, then Compare."
          action={<LinkButton to="/traces">Choose traces</LinkButton>}
        />
      </div>
    )
  }
  return <Both key={`${a} ${b}`} idA={a} idB={b} />
}

function Both({ idA, idB }: { idA: string; idB: string }) {
  const search = useSearch({ from: "/compare" })
  const navigate = useNavigate({ from: "/compare" })
  const a = useSide(idA)
  const b = useSide(idB)
  const only = search.only !== undefined
  return (
    <div className={styles.page}>
      <PageHeader
        title="Compare"
        actions={
          <>
            <Switch
              label="Only differences"
              checked={only}
              onChange={(on) =>
                navigate({
                  search: ({ only: _, ...rest }) => (on ? { ...rest, only: "1" } : rest),
                  replace: true,
                })
              }
            />
            <Button
              icon={<ArrowLeftRight aria-hidden />}
              onClick={() => navigate({ search: (before) => ({ ...before, a: idB, b: idA }), replace: true })}
            >
              Swap
            </Button>
          </>
        }
      />
      <div className={styles.sides}>
        <SideHead name="A" side={a} />
        <SideHead name="B" side={b} />
      </div>
      {a.error ? <Failure error={a.error} onRetry={a.retry} /> : null}
      {b.error ? <Failure error={b.error} onRetry={b.retry} /> : null}
      {a.loading || b.loading ? (
        <Skeleton lines={10} />
      ) : a.error || b.error ? null : (
        <>
          <Values name="Input" a={a} b={b} field="input" only={only} />
          <Values name="Output" a={a} b={b} field="output" only={only} />
          <Section title="Spans">
            <SpanTable a={a} b={b} only={only} />
          </Section>
          <Found a={a} b={b} only={only} />
        </>
      )}
    </div>
  )
}

function SideHead({ name, side }: { name: string; side: Side }) {
  const { summary } = side
  return (
    <section className={styles.side} aria-label={`Trace ${name}`}>
      <strong className={styles.letter}>{name}</strong>
      <TraceLink traceId={side.id}>{summary?.name ?? side.id.slice(0, 8)}</TraceLink>
      {summary !== undefined && (
        <>
          <KindTag kind={summary.kind} />
          <StatusTag status={summary.status} />
          <Duration ms={summary.durationMs} />
          {summary.inputTokens != null && (
            <span>{count(summary.inputTokens + (summary.outputTokens ?? 0))} tokens</span>
          )}
          <TimeAgo ms={summary.startTimeMs} />
        </>
      )}
    </section>
  )
}

interface ValuesProps {
  name: string
  a: Side
  b: Side
  field: "input" | "output"
  only: boolean
}

function Values({ name, a, b, field, only }: ValuesProps) {
  if (a.tooBig || b.tooBig) {
    return (
      <Section title={name}>
        <p className={styles.same}>It is too big to be compared here; the traces have it as a download.</p>
      </Section>
    )
  }
  const before = sortedJson(a[field])
  const after = sortedJson(b[field])
  if (before === after) {
    return only ? null : (
      <Section title={name}>
        <p className={styles.same}>The same in both.</p>
        {before !== "" && <pre className={styles.value}>{before.slice(0, 2000)}</pre>}
      </Section>
    )
  }
  return (
    <Section title={name}>
      <div data-diff={field}>
        <DiffView
          before={before}
          after={after}
          onlyDifferences={only}
          labels={[`${name} of A`, `${name} of B`]}
        />
      </div>
    </Section>
  )
}
