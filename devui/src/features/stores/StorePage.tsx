/** One index: its documents by page, searched and filtered; each of them whole; and deleting. */
import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { DatabaseZap, Ellipsis, PackageOpen, TextSearch, Trash2, TriangleAlert } from "lucide-react"
import { useState } from "react"
import type { StoreData } from "@/api/schema"
import { IconButton, LinkButton } from "@/components/ui/Button"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { Menu } from "@/components/ui/Menu"
import { PageHeader } from "@/components/ui/PageHeader"
import { Skeleton } from "@/components/ui/Skeleton"
import { bytes, count, plural } from "@/lib/format"
import { shellQuote } from "@/lib/shell"
import { missing } from "./abilities"
import { DeleteDialog, type ToDelete } from "./DeleteDialog"
import { DocumentList } from "./DocumentList"
import { DocumentPanel } from "./DocumentPanel"
import { documentsQuery, type StoreSearch, statsQuery } from "./queries"
import { Sources } from "./Sources"
import { StoreFilters } from "./StoreFilters"
import { StoresPage } from "./StoresPage"
import styles from "./stores.module.css"

export function StorePage() {
  const { _splat: name = "" } = useParams({ from: "/stores/$" })
  // The router takes /stores for a name that is empty.
  return name === "" ? <StoresPage /> : <Named name={name} />
}

function Named({ name }: { name: string }) {
  const stats = useQuery(statsQuery(name))
  if (stats.isPending) return <Skeleton lines={10} />
  if (stats.isError) return <Failure error={stats.error} onRetry={() => stats.refetch()} />
  return <Store key={stats.data.store.name} store={stats.data.store} />
}

function Store({ store }: { store: StoreData }) {
  const search: StoreSearch = useSearch({ from: "/stores/$" })
  const navigate = useNavigate({ from: "/stores/$" })
  const [toDelete, setToDelete] = useState<ToDelete>()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const usable = store.built && !store.problem
  const documents = useQuery({
    ...documentsQuery(store.name, search),
    enabled: usable,
    placeholderData: keepPreviousData,
  })

  /** Another filter begins with its first page. */
  const change = (more: { [Name in keyof StoreSearch]: StoreSearch[Name] | undefined }, replace = false) => {
    const restart = Object.keys(more).some((each) => each !== "id" && each !== "cursor")
    void navigate({
      search: (before) => {
        const after: Record<string, string | undefined> = {
          ...before,
          ...(restart ? { cursor: undefined } : {}),
          ...more,
        }
        return Object.fromEntries(
          Object.entries(after).filter(([, value]) => value !== undefined && value !== ""),
        )
      },
      replace,
      resetScroll: false,
    })
    if (restart) setSelected(new Set())
  }

  return (
    <div className={styles.page}>
      <PageHeader
        title={store.name}
        lead={usable ? <Facts store={store} /> : "Vector store"}
        actions={
          <>
            <LinkButton
              to="/run/$kind/$"
              params={{ kind: "retriever", _splat: store.name }}
              icon={<TextSearch aria-hidden />}
            >
              Retrieval bench
            </LinkButton>
            <LinkButton
              to="/run/$kind/$"
              params={{ kind: "indexer", _splat: store.name }}
              icon={<DatabaseZap aria-hidden />}
            >
              Index a file
            </LinkButton>
            {usable && store.abilities.writes && (
              <Menu
                label="More"
                trigger={<IconButton label="More" icon={<Ellipsis aria-hidden />} />}
                items={[
                  ...(search.where
                    ? [
                        {
                          label: "Delete what the filter finds…",
                          icon: <Trash2 aria-hidden />,
                          danger: true,
                          onSelect: () =>
                            setToDelete({
                              what: `where ${search.where}`,
                              selector: { where: search.where ?? "" },
                            }),
                        },
                      ]
                    : []),
                  {
                    label: "Delete all documents…",
                    icon: <Trash2 aria-hidden />,
                    danger: true,
                    onSelect: () =>
                      setToDelete({ what: `of ${store.name}, all of them`, selector: { all: true } }),
                  },
                ]}
              />
            )}
          </>
        }
      />
      <Notices store={store} />
      {!store.problem && !store.built && (
        <Empty
          icon={<PackageOpen aria-hidden />}
          title="Nothing was indexed yet"
          text="Index a file on the indexer's bench, or a folder from a terminal."
          command={`flowkit rag:index docs/ --index ${shellQuote(store.name)}`}
        />
      )}
      {usable && (
        <div className={styles.rooms} data-panel={search.id !== undefined || undefined}>
          <Sources
            store={store}
            chosen={search.source}
            onChoose={(source) => change({ source })}
            onDelete={
              store.abilities.writes
                ? (source) => setToDelete({ what: `of ${source}`, selector: { source } })
                : undefined
            }
          />
          <div className={styles.list}>
            <StoreFilters
              key={`${search.q}|${search.where}|${search.mode}`}
              store={store}
              search={search}
              onChange={change}
              error={documents.error}
            />
            <DocumentList
              store={store}
              search={search}
              documents={documents}
              selected={selected}
              onSelect={setSelected}
              onOpen={(id) => change({ id })}
              onPage={(cursor) => change({ cursor })}
              onDelete={(ids) => setToDelete({ what: "that are selected", selector: { ids } })}
            />
          </div>
          {search.id !== undefined && (
            <DocumentPanel
              key={search.id}
              store={store}
              id={search.id}
              query={search.q ?? ""}
              onClose={() => change({ id: undefined })}
              onDelete={
                store.abilities.writes
                  ? (id) => setToDelete({ what: "that is open", selector: { ids: [id] } })
                  : undefined
              }
            />
          )}
        </div>
      )}
      <DeleteDialog
        store={store.name}
        wanted={toDelete}
        onClose={() => setToDelete(undefined)}
        onDeleted={() => {
          setSelected(new Set())
          change({ id: undefined, cursor: undefined }, true)
        }}
      />
    </div>
  )
}

function Facts({ store }: { store: StoreData }) {
  const facts = [
    plural(store.count, "document"),
    store.dimension === null ? undefined : `${count(store.dimension)} dimensions`,
    store.embedder ?? undefined,
    store.sizeBytes === null ? undefined : bytes(store.sizeBytes),
    `${store.mode} by default`,
  ]
  return <span data-part="facts">{facts.filter(Boolean).join(" · ")}</span>
}

/** What is wrong, what does not fit, and what the store cannot do. */
function Notices({ store }: { store: StoreData }) {
  const lacks = missing(store)
  const problems = [...(store.problem ? [store.problem] : []), ...store.warnings]
  return (
    <>
      {problems.map((problem) => (
        <div
          key={problem.code}
          className={styles.notice}
          data-tone={problem === store.problem ? "error" : "warn"}
          role="status"
        >
          <TriangleAlert aria-hidden size={15} />
          <div>
            <p>{problem.message}</p>
            {problem.hint && <p className={styles.hint}>{problem.hint}</p>}
          </div>
        </div>
      ))}
      {lacks.length > 0 && <p className={styles.lacks}>{lacks.join(" ")}</p>}
    </>
  )
}
