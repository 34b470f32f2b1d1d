/** The page of one action: its bench where its kind has one, else, or as its tab "Raw", the runner that every action has. */
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { SearchX } from "lucide-react"
import { type ComponentType, lazy, Suspense } from "react"
import { actionsQuery } from "@/api/queries"
import type { ActionData } from "@/api/schema"
import { KindTag } from "@/components/KindTag"
import { Source } from "@/components/Source"
import { LinkButton } from "@/components/ui/Button"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { PageHeader } from "@/components/ui/PageHeader"
import { Segmented } from "@/components/ui/Segmented"
import { Skeleton } from "@/components/ui/Skeleton"
import { Runner } from "./Runner"
import styles from "./runner.module.css"

type Bench = ComponentType<{ action: ActionData }>

const RetrievalBench: Bench = lazy(() =>
  import("@/features/retrieval/RetrievalBench").then(({ RetrievalBench }) => ({ default: RetrievalBench })),
)

const EmbedderBench: Bench = lazy(() =>
  import("@/features/embedder/EmbedderBench").then(({ EmbedderBench }) => ({ default: EmbedderBench })),
)

const IndexerBench: Bench = lazy(() =>
  import("@/features/indexer/IndexerBench").then(({ IndexerBench }) => ({ default: IndexerBench })),
)

const ChatPage: Bench = lazy(() =>
  import("@/features/chat/ChatPage").then(({ ChatPage }) => ({ default: ChatPage })),
)

const BENCHES: Readonly<Record<string, Bench>> = {
  embedder: EmbedderBench,
  indexer: IndexerBench,
  model: ChatPage,
  retriever: RetrievalBench,
  reranker: RetrievalBench,
}

export function RunnerPage() {
  const { kind, _splat: name = "" } = useParams({ from: "/run/$kind/$" })
  const { tab, from } = useSearch({ from: "/run/$kind/$" })
  const navigate = useNavigate()
  const key = `/${kind}/${name}`
  const actions = useQuery(actionsQuery)
  // A list that could not be asked for again is still there to work with.
  if (actions.data === undefined) {
    if (actions.isError) return <Failure error={actions.error} onRetry={() => void actions.refetch()} />
    return <Skeleton lines={8} />
  }
  const action = actions.data.actions.find((one) => one.key === key)
  if (action === undefined)
    return (
      <Empty
        icon={<SearchX aria-hidden />}
        title={`There is no action ${key}`}
        text="It was renamed or removed, or its app is not the one that runs."
        action={<LinkButton to="/actions">All actions</LinkButton>}
      />
    )
  const Bench = BENCHES[action.kind]
  // Documents that were indexed before are an input as it stands; the indexer's bench begins with a file.
  const again = action.kind === "indexer" && from !== undefined
  const raw = Bench === undefined || tab === "raw" || again
  const { file, line } = action.source ?? {}
  return (
    <div className={styles.page}>
      <PageHeader
        title={action.name}
        lead={
          <span className={styles.lead}>
            <KindTag kind={action.kind} />
            {action.description && <span>{action.description}</span>}
            {file && <Source file={file} line={line} />}
          </span>
        }
        actions={
          Bench !== undefined && (
            <Segmented
              label="View of the action"
              value={raw ? "raw" : "bench"}
              items={[
                { value: "bench", label: action.kind === "model" ? "Chat" : "Bench" },
                { value: "raw", label: "Raw" },
              ]}
              onChange={(chosen) =>
                void navigate({ to: ".", search: chosen === "raw" ? { tab: "raw" } : {}, replace: true })
              }
            />
          )
        }
      />
      {raw ? (
        <Runner key={key} action={action} bench={Bench !== undefined} />
      ) : (
        <Suspense fallback={<Skeleton lines={8} />}>
          <Bench key={key} action={action} />
        </Suspense>
      )}
    </div>
  )
}
