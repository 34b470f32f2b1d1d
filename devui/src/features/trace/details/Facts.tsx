/** What a span is beside its values: ids, times, attributes, context. */
import { JsonView } from "@/components/JsonView"
import { CopyButton } from "@/components/ui/CopyButton"
import { duration, moment } from "@/lib/format"
import { tokensOf, tookOf } from "../model/span"
import type { TraceNode } from "../model/tree"
import styles from "./details.module.css"

export function Facts({ traceId, node }: { traceId: string; node: TraceNode }) {
  const { span } = node
  const tokens = tokensOf(span)
  const took = tookOf(span)
  const facts: [string, string | undefined, boolean?][] = [
    ["Key", span.key, true],
    ["Type", span.type],
    ["Library", span.library],
    ["Start", moment(span.start)],
    ["End", span.end === undefined ? undefined : moment(span.end)],
    ["Duration", took === undefined ? undefined : duration(took)],
    ["Tokens in", tokens === undefined ? undefined : String(tokens.input)],
    ["Tokens out", tokens === undefined ? undefined : String(tokens.output)],
    ["Span id", span.id, true],
    ["Parent", span.parentId, true],
    ["Trace id", traceId, true],
  ]
  return (
    <div className={styles.value}>
      <dl className={styles.facts}>
        {facts.map(([name, value, copied]) =>
          value === undefined ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {copied === true ? <code>{value}</code> : value}
                {copied === true && <CopyButton text={value} label={`Copy ${name.toLowerCase()}`} />}
              </dd>
            </div>
          ),
        )}
      </dl>
      {Object.keys(span.attributes).length > 0 && (
        <JsonView value={span.attributes} name="attributes" expand={2} label="Attributes" />
      )}
      {span.context !== undefined && (
        <JsonView value={span.context} name="context" expand={2} label="Context" />
      )}
    </div>
  )
}
