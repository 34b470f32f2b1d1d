/** One row of the waterfall: what it is, how long it took, what it cost in tokens, and its bar. */
import { ChevronRight, CircleX } from "lucide-react"
import { memo } from "react"
import { KindIcon } from "@/components/KindIcon"
import { classes } from "@/lib/classes"
import { count, duration } from "@/lib/format"
import { kindColor } from "@/lib/kinds"
import { tokensText, tookOf } from "./model/span"
import { barOf, type Scale, type Window } from "./model/time"
import type { TraceNode } from "./model/tree"
import styles from "./Waterfall.module.css"

const INDENT = 12
const DEEPEST = 5

interface SpanRowProps {
  node: TraceNode
  top: number
  height: number
  stacked: boolean
  scale: Scale
  window: Window
  /** Where the bar of a span that has not ended ends. */
  now: number
  /** An unended span is drawn as going on; else its process is gone. */
  live: boolean
  collapsed: boolean
  selected: boolean
  /** It only leads to what was searched for. */
  dim: boolean
  onSelect: (node: TraceNode) => void
  onToggle: (node: TraceNode) => void
  onHover: (node: TraceNode | undefined) => void
}

export const rowId = (spanId: string) => `span-${spanId}`

export const SpanRow = memo(function SpanRow(props: SpanRowProps) {
  const { node, scale, window, now, collapsed, selected, onSelect, onToggle, onHover } = props
  const { span } = node
  const end = span.end ?? now
  const bar = barOf(scale, window, node.start, end)
  const failed = span.state === "error"
  const took = tookOf(span) ?? (props.live ? now - span.start : undefined)
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, and says which row is active
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are those of the tree
    <div
      role="treeitem"
      id={rowId(span.id)}
      aria-level={node.depth + 1}
      aria-selected={selected}
      aria-expanded={node.below > 0 ? !collapsed : undefined}
      data-span-id={span.id}
      data-kind={span.label}
      data-state={span.state ?? (props.live ? "running" : "lost")}
      data-start={node.start}
      data-end={end}
      className={classes(
        styles.row,
        props.stacked && styles.stacked,
        selected && styles.selected,
        failed && styles.failed,
        props.dim && styles.dim,
      )}
      style={{ height: props.height, transform: `translateY(${props.top}px)` }}
      onClick={() => onSelect(node)}
      onPointerEnter={() => onHover(node)}
      onPointerLeave={() => onHover(undefined)}
    >
      <div className={styles.what} style={{ paddingLeft: 4 + Math.min(node.depth, DEEPEST) * INDENT }}>
        {node.below > 0 ? (
          <span
            className={classes(styles.toggle, !collapsed && styles.open)}
            data-toggle
            aria-hidden
            onClick={(event) => {
              event.stopPropagation()
              onToggle(node)
            }}
          >
            <ChevronRight size={13} />
          </span>
        ) : (
          <span className={styles.toggle} />
        )}
        {failed ? (
          <CircleX size={14} className={styles.errorIcon} role="img" aria-label="failed" />
        ) : (
          <KindIcon kind={span.label} />
        )}
        <span className={styles.name} title={span.name}>
          {span.name}
        </span>
        <span className={styles.kind}>{span.label}</span>
        {collapsed && <span className={styles.below}>+{count(node.below)}</span>}
        {collapsed && node.failedBelow && !failed && (
          <CircleX size={12} className={styles.errorIcon} role="img" aria-label="something below failed" />
        )}
        <Tokens node={node} collapsed={collapsed} />
        <span className={styles.took}>{took === undefined ? "—" : duration(took)}</span>
      </div>
      <div className={styles.lane}>
        {!bar.outside && (
          <span
            data-bar
            className={classes(
              styles.bar,
              span.end === undefined && (props.live ? styles.running : styles.lost),
            )}
            style={{
              left: `${bar.left * 100}%`,
              width: `max(2px, ${bar.width * 100}%)`,
              backgroundColor: failed ? "var(--error)" : kindColor(span.label),
            }}
          />
        )}
      </div>
    </div>
  )
})

/** Plain: its own. With ∑: of everything below. */
function Tokens({ node, collapsed }: { node: TraceNode; collapsed: boolean }) {
  const tokens = node.tokens
  const own = node.span.kind === "model"
  if (tokens === undefined || !(own || collapsed || node.depth === 0)) return null
  const { input, output } = tokens
  return (
    <span
      className={styles.tokens}
      title={`${count(input)} tokens in, ${count(output)} out${own ? "" : ", of all models below"}`}
    >
      {own ? "" : "∑ "}
      {tokensText(tokens)}
    </span>
  )
}
