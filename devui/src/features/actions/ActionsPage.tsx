/** What the app can do: by kind, filtered as one types, each with its schemas, its place in the code and its last run. */
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { ListTree } from "lucide-react"
import { useMemo } from "react"
import { actionsQuery } from "@/api/queries"
import { Button } from "@/components/ui/Button"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { PageHeader } from "@/components/ui/PageHeader"
import { SearchField } from "@/components/ui/SearchField"
import { Skeleton } from "@/components/ui/Skeleton"
import { SplitPane } from "@/components/ui/SplitPane"
import { StaleNote } from "@/components/ui/StaleNote"
import { plural } from "@/lib/format"
import { countKinds, withoutTwins } from "@/lib/kinds"
import { ActionDetails } from "./ActionDetails"
import styles from "./ActionsPage.module.css"
import { ActionTable } from "./ActionTable"
import { chosenActions } from "./choose"
import { KindFilter } from "./KindFilter"

export function ActionsPage() {
  const { kind, q = "", key } = useSearch({ from: "/actions" })
  const navigate = useNavigate({ from: "/actions" })
  const { data, error, refetch } = useQuery(actionsQuery)
  const all = useMemo(() => withoutTwins(data?.actions ?? []), [data])
  const shown = useMemo(() => chosenActions(all, { kind, q }), [all, kind, q])
  const set = (change: { kind?: string | undefined; q?: string | undefined; key?: string | undefined }) =>
    void navigate({ search: (now) => cleaned({ ...now, ...change }), replace: true, resetScroll: false })

  if (data === undefined)
    return (
      <>
        <PageHeader title="Actions" />
        {error === null ? <Skeleton lines={10} /> : <Failure error={error} onRetry={() => void refetch()} />}
      </>
    )
  const selected = data.actions.find((action) => action.key === key)
  const list =
    shown.length > 0 ? (
      <ActionTable actions={shown} selected={selected?.key} onSelect={(chosen) => set({ key: chosen })} />
    ) : all.length === 0 ? (
      <Empty
        icon={<ListTree aria-hidden />}
        title="The app has no actions yet"
        text="A function with @ai.flow above it is one. It appears here when its file is saved."
      />
    ) : (
      <Empty
        icon={<ListTree aria-hidden />}
        title="No action fits"
        text={q === "" ? undefined : `None of ${plural(all.length, "action")} is called like “${q}”.`}
        action={<Button onClick={() => set({ q: undefined, kind: undefined })}>Show all</Button>}
      />
    )

  return (
    <div className={styles.page}>
      <PageHeader
        title="Actions"
        lead={
          <span className={styles.lead}>
            {plural(all.length, "action")}
            {data.stale && <StaleNote text="Those of the app's last run" />}
          </span>
        }
        actions={
          <SearchField
            label="Filter actions"
            placeholder="Filter by name or description"
            value={q}
            onChange={(text) => set({ q: text })}
          />
        }
      />
      <div className={styles.room}>
        <KindFilter counts={countKinds(all)} kind={kind} onChange={(chosen) => set({ kind: chosen })} />
        {selected === undefined ? (
          <div className={styles.list}>{list}</div>
        ) : (
          <SplitPane
            id="actions"
            defaultSize={400}
            min={280}
            label="Size of the details"
            first={<div className={styles.list}>{list}</div>}
            second={<ActionDetails action={selected} onClose={() => set({ key: undefined })} />}
          />
        )}
      </div>
    </div>
  )
}

function cleaned<T extends Record<string, string | undefined>>(search: T): { [Name in keyof T]?: string } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value)) as {
    [Name in keyof T]?: string
  }
}
