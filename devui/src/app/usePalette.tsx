/** What the palette offers for what was typed, best first. */
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { Activity, Keyboard, Link2, Monitor, Moon, RotateCw, Square, Sun } from "lucide-react"
import { type ReactNode, useMemo } from "react"
import { api, ask } from "@/api/client"
import { useLive } from "@/api/live"
import { actionsQuery, keys, queryClient } from "@/api/queries"
import { KindIcon } from "@/components/KindIcon"
import { StatusIcon } from "@/components/StatusTag"
import { applyTheme } from "@/components/theme"
import { copyText } from "@/components/ui/CopyButton"
import { when } from "@/lib/format"
import { shownKind, withoutTwins } from "@/lib/kinds"
import { points } from "@/lib/match"
import { splitKey } from "@/lib/paths"
import { ROOMS } from "@/lib/rooms"
import { cancel } from "./RunningMenu"

export interface Entry {
  id: string
  group: "Action" | "Page" | "Trace" | "Command"
  icon: ReactNode
  name: string
  about: string
  run: () => void
}

const MOST = 40

export function usePalette(typed: string, { onSheet }: { onSheet: () => void }): readonly Entry[] {
  const navigate = useNavigate()
  const { runs } = useLive()
  const actions = useQuery(actionsQuery).data?.actions
  const traces = useQuery({
    queryKey: [...keys.summaries, "palette"],
    queryFn: ({ signal }) =>
      ask(api.GET("/api/traces/summaries", { params: { query: { limit: 100 } }, signal })),
    staleTime: 2_000,
  }).data?.traces

  return useMemo(() => {
    const running = runs.filter((run) => run.status === "running")
    const open = (id: string) => () => void navigate({ to: "/traces/$id", params: { id }, search: {} })
    const command = (name: string, icon: ReactNode, run: () => void): Entry => ({
      id: `command ${name}`,
      group: "Command",
      icon,
      name,
      about: "",
      run,
    })
    const found: { entry: Entry; worth: number }[] = []
    const offer = (entry: Entry, texts: readonly string[], bonus: number) => {
      const worth = typed.trim() === "" ? 0 : Math.max(...texts.map((text) => points(text, typed) ?? -1))
      if (worth >= 0) found.push({ entry, worth: worth + bonus })
    }
    for (const action of withoutTwins(actions ?? [])) {
      const entry: Entry = {
        id: action.key,
        group: "Action",
        icon: <KindIcon kind={action.kind} labelled />,
        name: action.name,
        about: action.description ?? "",
        run: () => void navigate(runTo(action.key)),
      }
      offer(
        entry,
        [action.name, `${shownKind(action.kind)} ${action.name}`, action.key],
        action.kind === "flow" ? 3 : 2,
      )
    }
    for (const room of ROOMS) {
      const run = () => void navigate({ to: room.to, search: {} })
      const entry: Entry = {
        id: room.to,
        group: "Page",
        icon: <room.Icon aria-hidden />,
        name: room.name,
        about: "",
        run,
      }
      offer(entry, [room.name], typed.trim() === "" ? 9 : 1)
    }
    const id = typed.trim().toLowerCase()
    for (const trace of traces ?? []) {
      const byId = /^[0-9a-f]{4,32}$/.test(id) && trace.traceId.startsWith(id)
      const worth = byId ? 60 : typed.trim() === "" ? undefined : points(trace.name, typed)
      if (worth === undefined) continue
      const about = `${trace.traceId.slice(0, 8)} · ${when(trace.startTimeMs)}`
      const icon = <StatusIcon status={trace.status} />
      const entry: Entry = {
        id: trace.traceId,
        group: "Trace",
        icon,
        name: trace.name,
        about,
        run: open(trace.traceId),
      }
      found.push({ entry, worth: byId ? worth : worth - 8 })
    }
    if (/^[0-9a-f]{32}$/.test(id) && !found.some((one) => one.entry.id === id)) {
      const icon = <Activity aria-hidden />
      found.push({ entry: { id, group: "Trace", icon, name: id, about: "", run: open(id) }, worth: 99 })
    }
    const commands = [
      command("Light theme", <Sun aria-hidden />, () => applyTheme("light")),
      command("Dark theme", <Moon aria-hidden />, () => applyTheme("dark")),
      command("Theme of the system", <Monitor aria-hidden />, () => applyTheme("system")),
      command("Keys", <Keyboard aria-hidden />, onSheet),
      command(
        "Copy the address of this page",
        <Link2 aria-hidden />,
        () => void copyText(location.href, "Address copied"),
      ),
      command("Load everything again", <RotateCw aria-hidden />, () => void queryClient.invalidateQueries()),
      ...(running.length === 0
        ? []
        : [
            command(`Cancel what runs (${running.length})`, <Square aria-hidden />, () => {
              for (const run of running) cancel(run)
            }),
          ]),
    ]
    for (const entry of commands) offer(entry, [entry.name], 0)
    return found
      .sort((a, b) => b.worth - a.worth)
      .slice(0, MOST)
      .map((one) => one.entry)
  }, [actions, traces, typed, runs, navigate, onSheet])
}

function runTo(key: string) {
  const { kind, name } = splitKey(key)
  return { to: "/run/$kind/$", params: { kind, _splat: name }, search: {} } as const
}
