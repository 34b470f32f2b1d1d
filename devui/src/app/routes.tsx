/** Every address of the UI, and what its query string may hold. Pages are loaded when they are first asked for. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  parseSearchWith,
  stringifySearchWith,
} from "@tanstack/react-router"
import { Layout } from "./Layout"
import { NotFound } from "./NotFound"
import { PageError } from "./PageError"
import { PageWaits } from "./PageWaits"

const root = createRootRoute({ component: Layout, notFoundComponent: NotFound })

/** Strings of a query, everything else left out. */
function texts<const Names extends readonly string[]>(...names: Names) {
  return (search: Record<string, unknown>): { [Name in Names[number]]?: string } => {
    const found: Record<string, string> = {}
    for (const name of names) {
      const value = search[name]
      if (value === undefined || value === null || value === "") continue
      found[name] = typeof value === "object" ? JSON.stringify(value) : String(value)
    }
    return found as { [Name in Names[number]]?: string }
  }
}

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(() => import("@/features/home/HomePage"), "HomePage"),
})

const actions = createRoute({
  getParentRoute: () => root,
  path: "/actions",
  validateSearch: texts("kind", "q", "key"),
  component: lazyRouteComponent(() => import("@/features/actions/ActionsPage"), "ActionsPage"),
})

/**
 * `/run/flow/menuQA`; a name may hold slashes. `from` and `span` say whose input is taken. The retrieval bench keeps what
 * was asked (`q`, `k`, `where`, options `o`) and the runs that answered; `compare` is the other retriever, `o2` and
 * `run2` its options and run, `docs` where a reranker has its candidates from.
 */
const run = createRoute({
  getParentRoute: () => root,
  path: "/run/$kind/$",
  validateSearch: texts(
    "from",
    "span",
    "run",
    "compare",
    "tab",
    "q",
    "k",
    "where",
    "o",
    "o2",
    "run2",
    "docs",
  ),
  component: lazyRouteComponent(() => import("@/features/runner/RunnerPage"), "RunnerPage"),
})

const traces = createRoute({
  getParentRoute: () => root,
  path: "/traces",
  validateSearch: texts("status", "kind", "action", "q", "since", "minMs", "label", "cursor", "internal"),
  component: lazyRouteComponent(() => import("@/features/traces/TracesPage"), "TracesPage"),
})

const trace = createRoute({
  getParentRoute: () => root,
  path: "/traces/$id",
  validateSearch: texts("span", "view", "tab"),
  component: lazyRouteComponent(() => import("@/features/trace/TracePage"), "TracePage"),
})

const compare = createRoute({
  getParentRoute: () => root,
  path: "/compare",
  validateSearch: texts("a", "b", "only"),
  component: lazyRouteComponent(() => import("@/features/compare/ComparePage"), "ComparePage"),
})

const stores = createRoute({
  getParentRoute: () => root,
  path: "/stores",
  component: lazyRouteComponent(() => import("@/features/stores/StoresPage"), "StoresPage"),
})

const store = createRoute({
  getParentRoute: () => root,
  path: "/stores/$",
  validateSearch: texts("q", "mode", "where", "source", "cursor", "id"),
  component: lazyRouteComponent(() => import("@/features/stores/StorePage"), "StorePage"),
})

const logs = createRoute({
  getParentRoute: () => root,
  path: "/logs",
  validateSearch: texts("level", "q", "traceId", "spanId"),
  component: lazyRouteComponent(() => import("@/features/logs/LogsPage"), "LogsPage"),
})

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyRouteComponent(() => import("@/features/settings/SettingsPage"), "SettingsPage"),
})

export const router = createRouter({
  routeTree: root.addChildren([home, actions, run, traces, trace, compare, stores, store, logs, settings]),
  defaultPreload: "intent",
  scrollRestoration: true,
  scrollToTopSelectors: ["#main"],
  defaultErrorComponent: PageError,
  defaultPendingComponent: PageWaits,
  defaultPendingMs: 150,
  // Values are texts, and stand in addresses as they are: `?k=3`, not `?k=%223%22`.
  parseSearch: parseSearchWith((value) => value),
  stringifySearch: stringifySearchWith(String),
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
