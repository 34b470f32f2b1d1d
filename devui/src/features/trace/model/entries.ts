/**
 * What happened in a trace, as lines in order of time.
 *
 *     entriesOf(tree, logs)    // [{level: "start", time, node, text}, …]
 */
import type { LogData } from "@/api/schema"
import { duration } from "@/lib/format"
import { levelOf, textOfLog } from "@/lib/log"
import type { TraceNode, Tree } from "./tree"

interface Entry {
  id: string
  time: number
  /** `start`, `end`, `event`, or the level of a log record. */
  level: string
  node: TraceNode | undefined
  text: string
}

const SHOWN = 300

/** With `only`, those of these spans. */
export function entriesOf(
  tree: Tree,
  logs: readonly LogData[],
  only?: ReadonlySet<TraceNode>,
): readonly Entry[] {
  const entries: Entry[] = []
  for (const node of tree.nodes) {
    if (only !== undefined && !only.has(node)) continue
    const { span } = node
    entries.push({ id: `${span.id} start`, time: span.start, level: "start", node, text: shown(span.input) })
    span.events.forEach((event, at) => {
      const text = `${event.name} ${shown(event.attributes)}`
      entries.push({ id: `${span.id} event ${at}`, time: event.timeMs, level: "event", node, text })
    })
    if (span.end === undefined) continue
    const level = span.state === "error" ? "error" : "end"
    const said = span.error === undefined ? shown(span.output) : `${span.error.type}: ${span.error.message}`
    entries.push({
      id: `${span.id} end`,
      time: span.end,
      level,
      node,
      text: `${duration(span.end - span.start)}  ${said}`,
    })
  }
  for (const log of logs) {
    const node = log.spanId == null ? undefined : tree.byId.get(log.spanId)
    if (only !== undefined && (node === undefined || !only.has(node))) continue
    entries.push({ id: log.logId, time: log.timestamp, level: levelOf(log), node, text: textOfLog(log) })
  }
  // Sorting keeps the order of equal times: starts before what is below.
  return entries.sort((a, b) => a.time - b.time)
}

function shown(value: unknown): string {
  if (value === undefined) return ""
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}
