/** Who called whom in this trace, with counts; a click goes to the first span. */
import dagre from "@dagrejs/dagre"
import { useMemo } from "react"
import { classes } from "@/lib/classes"
import { count, duration } from "@/lib/format"
import { kindColor } from "@/lib/kinds"
import styles from "./GraphView.module.css"
import { callsOf, identity } from "./model/graph"
import type { Tree } from "./model/tree"
import type { ViewProps } from "./TimelineView"

const WIDTH = 190
const HEIGHT = 46
const MOST = 200

export default function GraphView({ tree, selected, onSelect }: ViewProps) {
  const laid = useMemo(() => layout(tree), [tree])
  if (laid === undefined) {
    return (
      <p className={styles.none}>
        There are more than {MOST} different actions here; the tree shows them all.
      </p>
    )
  }
  const chosen = selected && identity(selected)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what is scrolled can be reached by keys
    <section className={styles.graph} aria-label="Graph of calls" tabIndex={0}>
      <div className={styles.sheet} style={{ width: laid.width, height: laid.height }}>
        <svg width={laid.width} height={laid.height} aria-hidden="true">
          {laid.lines.map((line) => (
            <g key={line.id}>
              <path d={line.path} className={classes(styles.line, line.errors > 0 && styles.failed)} />
              <path d={line.head} className={classes(styles.arrow, line.errors > 0 && styles.failed)} />
              {line.count > 1 && (
                <text x={line.x} y={line.y} className={styles.count}>
                  ×{count(line.count)}
                </text>
              )}
            </g>
          ))}
        </svg>
        {laid.points.map((point) => (
          <button
            type="button"
            key={point.id}
            data-kind={point.label}
            className={classes(styles.point, point.id === chosen && styles.selected)}
            style={
              {
                left: point.x - WIDTH / 2,
                top: point.y - HEIGHT / 2,
                width: WIDTH,
                height: HEIGHT,
                "--kind": kindColor(point.label),
              } as React.CSSProperties
            }
            onClick={() => onSelect(point.first)}
          >
            <span className={styles.name} title={point.name}>
              {point.name}
            </span>
            <span className={styles.facts}>
              {point.label} · {point.count > 1 ? `${count(point.count)} calls, ` : ""}
              {point.running ? "running" : duration(point.totalMs)}
              {point.errors > 0 && <strong> · {point.errors} failed</strong>}
            </span>
          </button>
        ))}
      </div>
    </section>
  )
}

function layout(tree: Tree) {
  const { points, lines } = callsOf(tree)
  if (points.length > MOST) return undefined
  const graph = new dagre.graphlib.Graph({ multigraph: false })
  graph.setGraph({ rankdir: "TB", nodesep: 24, ranksep: 44, marginx: 16, marginy: 16 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const point of points) graph.setNode(point.id, { width: WIDTH, height: HEIGHT })
  for (const line of lines) graph.setEdge(line.from, line.to)
  dagre.layout(graph)
  const size = graph.graph() as { width?: number; height?: number }
  return {
    width: Math.ceil(size.width ?? WIDTH),
    height: Math.ceil(size.height ?? HEIGHT),
    points: points.map((point) => {
      const { x, y } = graph.node(point.id) as { x: number; y: number }
      return { ...point, x, y }
    }),
    lines: lines.map((line) => {
      const edge = graph.edge(line.from, line.to) as { points: { x: number; y: number }[] }
      const way = edge.points
      const middle = way[Math.floor(way.length / 2)] ?? { x: 0, y: 0 }
      const end = way.at(-1) ?? middle
      const before = way.at(-2) ?? middle
      return {
        ...line,
        id: `${line.from} ${line.to}`,
        path: way.map(({ x, y }, at) => `${at === 0 ? "M" : "L"}${x} ${y}`).join(" "),
        head: arrow(before, end),
        x: middle.x + 6,
        y: middle.y,
      }
    }),
  }
}

/** A small triangle at the end of a line. */
function arrow(from: { x: number; y: number }, to: { x: number; y: number }): string {
  const angle = Math.atan2(to.y - from.y, to.x - from.x)
  const side = (turn: number) => `${to.x + 7 * Math.cos(angle + turn)} ${to.y + 7 * Math.sin(angle + turn)}`
  return `M${to.x} ${to.y} L${side(Math.PI - 0.42)} L${side(Math.PI + 0.42)} Z`
}
