/** Above the views of a trace: which view, search, folding, and zoom. */
import {
  ChartGantt,
  ChevronsDownUp,
  ChevronsUpDown,
  FoldHorizontal,
  ListTree,
  Network,
  ScrollText,
  ZoomOut,
} from "lucide-react"
import type { Ref } from "react"
import { Button, IconButton } from "@/components/ui/Button"
import { SearchField } from "@/components/ui/SearchField"
import { Segmented } from "@/components/ui/Segmented"
import styles from "./TraceView.module.css"

export type View = "tree" | "timeline" | "graph" | "log"

const VIEWS = [
  { value: "tree", label: "Tree", icon: <ListTree size={14} aria-hidden /> },
  { value: "timeline", label: "Timeline", icon: <ChartGantt size={14} aria-hidden /> },
  { value: "graph", label: "Graph", icon: <Network size={14} aria-hidden /> },
  { value: "log", label: "Log", icon: <ScrollText size={14} aria-hidden /> },
] as const

export function viewOf(text: string | undefined): View {
  return VIEWS.find((view) => view.value === text)?.value ?? "tree"
}

interface ToolbarProps {
  view: View
  onView: (view: View) => void
  query: string
  onQuery: (query: string) => void
  found: number | undefined
  onFirst: () => void
  search: Ref<HTMLInputElement>
  zoomed: boolean
  onWhole: () => void
  /** Share of time in which nothing ran, where compressing is offered. */
  idle: number | undefined
  compressed: boolean
  onCompress: (compressed: boolean) => void
  onCollapse: () => void
  onExpand: () => void
}

export function Toolbar(props: ToolbarProps) {
  const { view, found } = props
  return (
    <div className={styles.toolbar}>
      <Segmented label="View" value={view} onChange={props.onView} items={VIEWS} />
      <div className={styles.search}>
        <SearchField
          ref={props.search}
          label="Search spans"
          placeholder="Search spans  /"
          value={props.query}
          onChange={props.onQuery}
          onKeyDown={(event) => {
            if (event.key === "Enter" || event.key === "ArrowDown") {
              event.preventDefault()
              props.onFirst()
            }
          }}
        />
      </div>
      <span className={styles.found} role="status">
        {found === undefined ? "" : `${found} found`}
      </span>
      {view === "tree" && (
        <>
          <IconButton
            label="Collapse all  ["
            size="s"
            icon={<ChevronsDownUp aria-hidden />}
            onClick={props.onCollapse}
          />
          <IconButton
            label="Expand all  ]"
            size="s"
            icon={<ChevronsUpDown aria-hidden />}
            onClick={props.onExpand}
          />
        </>
      )}
      {(view === "tree" || view === "timeline") && props.idle !== undefined && (
        <Button
          size="s"
          variant="ghost"
          aria-pressed={props.compressed}
          icon={<FoldHorizontal aria-hidden />}
          onClick={() => props.onCompress(!props.compressed)}
        >
          {props.compressed ? "Show idle time" : `${Math.floor(props.idle * 100)} % idle: compress`}
        </Button>
      )}
      {props.zoomed && (
        <Button size="s" variant="ghost" icon={<ZoomOut aria-hidden />} onClick={props.onWhole}>
          Whole trace
        </Button>
      )}
    </div>
  )
}
