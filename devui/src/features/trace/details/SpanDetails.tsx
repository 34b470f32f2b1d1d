/** Everything about one span: values, facts, logs, and why it failed. */
import { useQuery } from "@tanstack/react-query"
import { Copy, Play } from "lucide-react"
import { useState } from "react"
import { useEvents } from "@/api/live"
import { JsonView } from "@/components/JsonView"
import { KindTag } from "@/components/KindTag"
import { StatusTag } from "@/components/StatusTag"
import { IconButton, LinkButton } from "@/components/ui/Button"
import { copyText } from "@/components/ui/CopyButton"
import { Menu } from "@/components/ui/Menu"
import { TabPanel, Tabs } from "@/components/ui/Tabs"
import { failed } from "@/components/ui/toast"
import { useSoon } from "@/components/useSoon"
import { cliCommand, devCurl } from "@/lib/copyAs"
import { duration } from "@/lib/format"
import { type Span, tokensOf, tokensText, tookOf } from "../model/span"
import type { TraceNode } from "../model/tree"
import styles from "./details.module.css"
import { ErrorView } from "./ErrorView"
import { Facts } from "./Facts"
import { runTarget } from "./runTarget"
import { SpanLogs, spanLogsQuery } from "./SpanLogs"
import { fetchValue } from "./useValue"
import { ValueView } from "./ValueView"

/** A span may log hundreds of records a second. */
const SOON_MS = 250

interface SpanDetailsProps {
  traceId: string
  node: TraceNode
  /** A span without an end goes on; else its process is gone. */
  live: boolean
  /** The row that is pointed at: what it said is marked here. */
  hovered: Span | undefined
  tab: string | undefined
  onTab: (tab: string) => void
}

export function SpanDetails({ traceId, node, live, hovered, tab, onTab }: SpanDetailsProps) {
  const { span } = node
  const [json, setJson] = useState(false)
  const logs = useQuery(spanLogsQuery(traceId, span.id))
  const logged = logs.data?.logs.length
  const soon = useSoon(() => void logs.refetch(), SOON_MS)
  useEvents("log", ({ log }) => {
    if (log?.spanId === span.id) soon()
  })
  const items = [
    ...(span.error === undefined ? [] : [{ value: "error", label: "Error" }]),
    { value: "input", label: "Input" },
    { value: "output", label: "Output" },
    { value: "attributes", label: "Attributes" },
    { value: "logs", label: "Logs", ...(logged ? { count: logged + span.events.length } : {}) },
    { value: "raw", label: "Raw" },
  ]
  const usual = span.error !== undefined ? "error" : span.end === undefined ? "input" : "output"
  const shown = items.some((item) => item.value === tab) ? (tab as string) : usual
  const values = { traceId, span, hovered, json, onJson: setJson }
  return (
    <>
      <Head traceId={traceId} node={node} live={live} />
      <Tabs label="Details of the span" value={shown} onChange={onTab} items={items}>
        {span.error !== undefined && (
          <TabPanel value="error">
            <div className={styles.panel}>
              <ErrorView error={span.error} />
            </div>
          </TabPanel>
        )}
        <TabPanel value="input">
          <div className={styles.panel}>
            <ValueView {...values} field="input" />
          </div>
        </TabPanel>
        <TabPanel value="output">
          <div className={styles.panel}>
            <ValueView {...values} field="output" />
          </div>
        </TabPanel>
        <TabPanel value="attributes">
          <div className={styles.panel}>
            <Facts traceId={traceId} node={node} />
          </div>
        </TabPanel>
        <TabPanel value="logs">
          <div className={styles.panel}>
            <SpanLogs traceId={traceId} span={span} />
          </div>
        </TabPanel>
        <TabPanel value="raw">
          <div className={styles.panel}>
            <JsonView value={span} expand={2} label="Span" />
          </div>
        </TabPanel>
      </Tabs>
    </>
  )
}

function Head({ traceId, node, live }: { traceId: string; node: TraceNode; live: boolean }) {
  const { span } = node
  const target = runTarget(node)
  const took = tookOf(span)
  const tokens = span.kind === "model" ? tokensOf(span) : undefined
  const copy = async (make: (input: unknown, output: unknown) => string, what: string) => {
    try {
      const [input, output] = await Promise.all([
        fetchValue(traceId, span, "input"),
        what === "JSON" ? fetchValue(traceId, span, "output") : undefined,
      ])
      await copyText(make(input, output), `Copied as ${what}`)
    } catch (error) {
      failed("It could not be copied")(error)
    }
  }
  const key = target?.own === true ? target.key : undefined
  return (
    <header className={styles.head} data-span={span.id} data-state={span.state}>
      <div className={styles.title}>
        <KindTag kind={span.label} />
        <h2 title={span.name}>{span.name}</h2>
      </div>
      <div className={styles.row}>
        <StatusTag status={span.state ?? (live ? "running" : "lost")} />
        <span>{took === undefined ? "" : duration(took)}</span>
        {tokens !== undefined && <span className={styles.quiet}>{tokensText(tokens)} tokens</span>}
        <span className={styles.grow} />
        {target !== undefined && (
          <LinkButton
            size="s"
            icon={<Play aria-hidden />}
            to={target.path as never}
            search={{ from: traceId, span: target.span.id } as never}
          >
            {target.own ? "Open in runner" : `Open ${target.span.label} in runner`}
          </LinkButton>
        )}
        <Menu
          label="Copy as"
          trigger={<IconButton label="Copy as…" size="s" icon={<Copy aria-hidden />} />}
          items={[
            {
              label: "JSON",
              onSelect: () =>
                copy((input, output) => JSON.stringify({ ...span, input, output }, null, 2), "JSON"),
            },
            {
              label: "curl",
              disabled: key === undefined,
              onSelect: () => copy((input) => devCurl({ key: key ?? "", input }, location.origin), "curl"),
            },
            {
              label: "Command",
              disabled: key?.startsWith("/flow/") !== true,
              onSelect: () => copy((input) => cliCommand({ key: key ?? "", input }) ?? "", "command"),
            },
          ]}
        />
      </div>
    </header>
  )
}
