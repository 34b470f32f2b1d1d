/** The sign of a kind of action or span, in the kind's colour. Beside it stands its name, or it has one itself. */
import {
  ArrowUpDown,
  Circle,
  CornerDownRight,
  DatabaseZap,
  FileBox,
  Gauge,
  type LucideIcon,
  MessageSquareText,
  Scissors,
  Sparkles,
  TextSearch,
  Waypoints,
  Workflow,
  Wrench,
} from "lucide-react"
import { kindColor, shownKind } from "@/lib/kinds"

const ICONS: Record<string, LucideIcon> = {
  flow: Workflow,
  step: CornerDownRight,
  model: Sparkles,
  prompt: MessageSquareText,
  tool: Wrench,
  retriever: TextSearch,
  reranker: ArrowUpDown,
  indexer: DatabaseZap,
  embedder: Waypoints,
  evaluator: Gauge,
  resource: FileBox,
  splitter: Scissors,
}

interface KindIconProps {
  kind: string | null | undefined
  size?: number | undefined
  /** Without a word beside it, it says its kind itself. */
  labelled?: boolean | undefined
}

export function KindIcon({ kind, size = 14, labelled = false }: KindIconProps) {
  const shown = shownKind(kind)
  const Icon = ICONS[shown] ?? Circle
  const name = labelled ? { role: "img", "aria-label": shown } : { "aria-hidden": true }
  return <Icon size={size} style={{ color: kindColor(kind), flexShrink: 0 }} {...name} />
}
