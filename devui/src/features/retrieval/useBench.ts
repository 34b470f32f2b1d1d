/**
 * What the retrieval bench asks: a draft while it is typed, and the address once it was run.
 *
 *     const bench = useBench(action)
 *     bench.edit({ q: "vegan soup" }); await bench.run()
 */
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import type { ActionData } from "@/api/schema"
import { type Asked, optionsOf, readOptions } from "./options"

const ROUTE = "/run/$kind/$" as const

type Address = {
  q?: string
  k?: string
  where?: string
  o?: string
  o2?: string
  run?: string
  run2?: string
  compare?: string
  docs?: string
}

/** The part of the address that the bench keeps, and a way to change it. Changes that are no step replace the entry. */
export function useAddress(): [
  Address,
  (change: { [Name in keyof Address]: Address[Name] | undefined }, step?: boolean) => void,
] {
  const search = useSearch({ from: ROUTE })
  const navigate = useNavigate()
  return [
    search,
    (change, step = false) => {
      void navigate({
        from: ROUTE,
        to: ".",
        search: (before) => {
          const after: Record<string, string | undefined> = { ...before, ...change }
          for (const name of Object.keys(after))
            if (after[name] === undefined || after[name] === "") delete after[name]
          return after
        },
        replace: !step,
        resetScroll: false,
      })
    },
  ]
}

/** What was asked according to the address. */
export function askedIn(address: Address, action: ActionData): Asked {
  const given = Number(address.k)
  return {
    q: address.q ?? "",
    k: Number.isInteger(given) && given > 0 ? given : (optionsOf(action).k?.default ?? 3),
    where: address.where ?? "",
    options: readOptions(address.o),
  }
}

/** A draft that follows the address: going back shows what was asked then. */
export function useDraft(asked: Asked): [Asked, (change: Partial<Asked>) => void] {
  const written = JSON.stringify(asked)
  const [draft, setDraft] = useState(asked)
  useEffect(() => setDraft(JSON.parse(written) as Asked), [written])
  return [draft, (change) => setDraft((before) => ({ ...before, ...change }))]
}
