/** The vector stores of the app: how much is in each, what made it, and what does not fit. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Database } from "lucide-react"
import type { StoreData } from "@/api/schema"
import { Badge } from "@/components/ui/Badge"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { PageHeader } from "@/components/ui/PageHeader"
import { Skeleton } from "@/components/ui/Skeleton"
import table from "@/components/ui/table.module.css"
import { bytes, count, plural } from "@/lib/format"
import { missing } from "./abilities"
import { storesQuery } from "./queries"
import styles from "./stores.module.css"

export function StoresPage() {
  const stores = useQuery(storesQuery)
  const list = stores.data?.stores ?? []
  return (
    <div className={styles.page}>
      <PageHeader
        title="Stores"
        lead={stores.isSuccess && list.length > 0 && plural(list.length, "index", "indexes")}
      />
      {stores.isPending && <Skeleton lines={6} />}
      {stores.isError && <Failure error={stores.error} onRetry={() => stores.refetch()} />}
      {stores.isSuccess && list.length === 0 && (
        <Empty
          icon={<Database aria-hidden />}
          title="This app has no vector store"
          text={
            <>
              Give it one: <code>Flowkit(plugins=[DevStore("docs", embedder="local/all-minilm-l6-v2")])</code>
              . What is indexed then can be looked at here.
            </>
          }
          command="flowkit rag:index docs/"
        />
      )}
      {list.length > 0 && (
        <div className={styles.wide}>
          <table className={table.table}>
            <thead>
              <tr>
                <th>Index</th>
                <th className={table.num}>Documents</th>
                <th>Built with</th>
                <th className={table.num}>Dimension</th>
                <th className={table.num}>Size</th>
                <th>Searches</th>
                <th>State</th>
              </tr>
            </thead>
            <tbody>
              {list.map((store) => (
                <Row key={store.name} store={store} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  )
}

function Row({ store }: { store: StoreData }) {
  return (
    <tr className={table.row}>
      <td className={styles.indexCell}>
        <Link to="/stores/$" params={{ _splat: store.name }}>
          {store.name}
        </Link>
      </td>
      <td className={table.num}>{store.built ? count(store.count) : "—"}</td>
      <td>{store.embedder ?? <span className={table.dim}>{store.retrieverEmbedder ?? "—"}</span>}</td>
      <td className={table.num}>{count(store.dimension)}</td>
      <td className={table.num}>{bytes(store.sizeBytes)}</td>
      <td>
        <span className={styles.badges}>
          {store.abilities.modes.map((mode) => (
            <Badge key={mode} tone={mode === store.mode ? "accent" : "neutral"}>
              {mode}
            </Badge>
          ))}
        </span>
      </td>
      <td>
        <State store={store} />
      </td>
    </tr>
  )
}

function State({ store }: { store: StoreData }) {
  if (store.problem) return <Badge tone="error">{store.problem.message}</Badge>
  const [warning] = store.warnings
  if (warning) return <Badge tone="warn">{WARNINGS[warning.code] ?? warning.message}</Badge>
  if (!store.built) return <Badge>nothing indexed yet</Badge>
  const lacks = missing(store)
  return (
    <span className={styles.state}>
      <Badge tone="ok">ready</Badge>
      {lacks.length > 0 && <span className={table.dim}>{lacks.join(" ")}</span>}
    </span>
  )
}

const WARNINGS: Record<string, string> = {
  embedder: "built with another embedder",
  dimension: "vectors of another dimension",
  noEmbedder: "no embedder",
  embedderMissing: "its embedder is missing",
}
