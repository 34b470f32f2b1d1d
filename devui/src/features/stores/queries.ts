/**
 * Questions about vector stores. All keys begin with `stores`, so one invalidation refreshes every list.
 *
 *     const { data } = useQuery(storesQuery)
 *     const page = useQuery(documentsQuery("devstore/menu", { q: "soup" }))
 */
import { queryOptions } from "@tanstack/react-query"
import { api, ask } from "@/api/client"
import { keys } from "@/api/queries"
import type { DeleteDocuments } from "@/api/schema"

const PAGE = 50

/** What the address of a store's page holds. */
export type StoreSearch = {
  q?: string
  mode?: string
  where?: string
  source?: string
  cursor?: string
  id?: string
}

export const storesQuery = queryOptions({
  queryKey: [...keys.stores, "list"],
  queryFn: ({ signal }) => ask(api.GET("/api/stores", { signal })),
})

export const statsQuery = (store: string) =>
  queryOptions({
    queryKey: [...keys.stores, "stats", store],
    queryFn: ({ signal }) => ask(api.GET("/api/stores/stats", { params: { query: { store } }, signal })),
    retry: false,
  })

export const sourcesQuery = (store: string) =>
  queryOptions({
    queryKey: [...keys.stores, "sources", store],
    queryFn: ({ signal }) => ask(api.GET("/api/stores/sources", { params: { query: { store } }, signal })),
    retry: false,
  })

export function documentsQuery(store: string, { q, mode, where, source, cursor }: StoreSearch) {
  const wanted = { q, mode, where, source, cursor: q === undefined ? cursor : undefined }
  const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined))
  return queryOptions({
    queryKey: [...keys.stores, "documents", store, given],
    queryFn: ({ signal }) =>
      ask(
        api.GET("/api/stores/documents", {
          params: { query: { store, limit: PAGE, ...given } as never },
          signal,
        }),
      ),
    retry: false,
  })
}

export const documentQuery = (store: string, id: string) =>
  queryOptions({
    queryKey: [...keys.stores, "document", store, id],
    queryFn: ({ signal }) =>
      ask(api.GET("/api/stores/document", { params: { query: { store, id } }, signal })),
    retry: false,
  })

/** What is to be deleted: exactly one of these. */
export type Selector = { ids: string[] } | { source: string } | { where: string } | { all: true }

/** Delete documents, or with `dryRun` only count them. */
export async function deleteDocuments(store: string, selector: Selector, dryRun = false): Promise<number> {
  const body = { store, ...selector, dryRun } as unknown as DeleteDocuments
  return (await ask(api.POST("/api/stores/delete", { body }))).deleted
}
