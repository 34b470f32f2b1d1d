/** A reranker at work: candidates of a retriever before, their new order after, and how each document moves. */
import { useQuery } from "@tanstack/react-query"
import { useSearch } from "@tanstack/react-router"
import { ArrowUpDown, Play, Square } from "lucide-react"
import { useEffect, useMemo, useState } from "react"
import { actionsQuery } from "@/api/queries"
import { cancelRun, startRun } from "@/api/runs"
import { followToEnd, useFinished } from "@/api/runToEnd"
import type { ActionData } from "@/api/schema"
import { Button } from "@/components/ui/Button"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { Kbd } from "@/components/ui/Kbd"
import { NumberField } from "@/components/ui/NumberField"
import { Segmented } from "@/components/ui/Segmented"
import { Select } from "@/components/ui/Select"
import { Skeleton } from "@/components/ui/Skeleton"
import { TextField } from "@/components/ui/TextField"
import { useRunKey } from "@/components/useRunKey"
import { useSpanInput } from "@/features/trace/useSpanInput"
import { documentsOf } from "@/lib/documents"
import { Moves } from "./Moves"
import { askedOf, inputOf, optionsOf, readOptions, writeOptions } from "./options"
import { SideOptions } from "./QueryForm"
import { modeOf } from "./ResultList"
import styles from "./RetrievalBench.module.css"
import { askedIn, useAddress, useDraft } from "./useBench"

const OWN = "own texts"
const CANDIDATES = 10

export function RerankBench({ action }: { action: ActionData }) {
  const [address, setAddress] = useAddress()
  const { data: listed } = useQuery(actionsQuery)
  const retrievers = listed?.actions.filter((each) => each.kind === "retriever") ?? []
  const from = address.docs ?? retrievers[0]?.key ?? OWN
  const retriever = retrievers.find((each) => each.key === from)

  const asked = useMemo(
    () => ({ ...askedIn(address, action), k: Number(address.k) || CANDIDATES }),
    [address, action],
  )
  const [draft, edit] = useDraft(asked)
  const [texts, setTexts] = useState("")
  const [mode, setMode] = useState(() => readOptions(address.o2))
  const [starting, setStarting] = useState(false)
  const [refused, setRefused] = useState<unknown>()
  const [stop, setStop] = useState<AbortController>()
  const { from: trace, span } = useSearch({ from: "/run/$kind/$" })
  const earlier = useSpanInput(address.q === undefined ? trace : undefined, span)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it has arrived
  useEffect(() => {
    if (earlier === undefined) return
    edit({ q: askedOf(earlier).q ?? "", options: askedOf(earlier).options ?? {} })
    setTexts(
      documentsOf(earlier)
        .map((hit) => hit.text.replace(/\s+/g, " "))
        .join("\n"),
    )
    setAddress({ docs: OWN })
  }, [earlier])
  const before = useFinished(address.run2)
  const after = useFinished(address.run)
  const busy = starting || after.isFetching
  const own = texts.split("\n").filter((line) => line.trim() !== "")

  const run = async () => {
    if (draft.q.trim() === "" || busy || (retriever === undefined && own.length === 0)) return
    const control = new AbortController()
    setStop(control)
    setStarting(true)
    setRefused(undefined)
    let search: string | undefined
    try {
      let documents: unknown[] = own.map((text, at) => ({ id: String(at), content: [{ text }], score: 0 }))
      if (retriever !== undefined) {
        const asking = inputOf(optionsOf(retriever), { ...draft, where: "", options: mode })
        search = (await startRun({ key: retriever.key, input: asking })).runId
        const found = await followToEnd(search, control.signal)
        documents = documentsOf(found.result)
          .slice(0, draft.k)
          .map((hit) => hit.raw)
      }
      const query = { content: [{ text: draft.q }] }
      const options = Object.keys(draft.options).length === 0 ? {} : { options: draft.options }
      const started = await startRun({ key: action.key, input: { query, documents, ...options } })
      setAddress(
        {
          q: draft.q,
          k: String(draft.k),
          o: writeOptions(draft.options),
          o2: writeOptions(mode),
          docs: from,
          run: started.runId,
          run2: search,
        },
        true,
      )
    } catch (error) {
      if (control.signal.aborted && search !== undefined) void cancelRun(search).catch(() => undefined)
      else setRefused(error)
    } finally {
      setStarting(false)
      setStop(undefined)
    }
  }
  useRunKey(() => void run())
  const cancel = () => {
    stop?.abort()
    if (address.run !== undefined) void cancelRun(address.run).catch(() => undefined)
  }

  const error = refused ?? after.error ?? before.error
  return (
    <div className={styles.main}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <div className={styles.ask}>
          <div className={styles.query}>
            <TextField
              label="Query"
              value={draft.q}
              onChange={(q) => edit({ q })}
              placeholder="What would somebody ask?"
            />
          </div>
          <div className={styles.candidates}>
            <NumberField
              label="Candidates"
              value={draft.k}
              min={1}
              max={200}
              disabled={retriever === undefined}
              onChange={(k) => k !== undefined && Number.isInteger(k) && k > 0 && edit({ k })}
            />
          </div>
          {busy ? (
            <Button icon={<Square aria-hidden />} onClick={cancel}>
              Cancel
            </Button>
          ) : (
            <Button
              type="submit"
              variant="primary"
              icon={<Play aria-hidden />}
              disabled={draft.q.trim() === ""}
            >
              Run <Kbd keys="Mod+Enter" />
            </Button>
          )}
        </div>
        <div className={styles.refine}>
          <div className={styles.compare}>
            <span className={styles.caption}>Candidates from</span>
            <Select
              label="Candidates from"
              value={from}
              onChange={(docs) => setAddress({ docs, run: undefined, run2: undefined })}
              items={[
                ...retrievers.map((each) => ({ value: each.key, label: each.name })),
                { value: OWN, label: "texts of my own" },
              ]}
            />
          </div>
          {retriever !== undefined && optionsOf(retriever).modes.length > 0 && (
            <Segmented
              label="Search mode"
              value={modeOf(retriever, mode) ?? "default"}
              onChange={(chosen) => setMode(chosen === retriever.index?.mode ? {} : { mode: chosen })}
              items={optionsOf(retriever).modes.map((each) => ({ value: each, label: each }))}
            />
          )}
          <SideOptions
            action={action}
            options={draft.options}
            onChange={(options) => edit({ options })}
            name="Options of the reranker"
          />
        </div>
        {retriever === undefined && (
          <TextField
            label="Texts, one on each line"
            multiline
            value={texts}
            onChange={setTexts}
            placeholder={"Tomato soup with basil\nVegan lasagne with spinach"}
          />
        )}
      </form>
      {error != null && <Failure error={error} onRetry={() => void run()} />}
      {(busy || address.run !== undefined) && after.isPending && error == null && <Skeleton lines={8} />}
      {after.data !== undefined && (retriever === undefined || before.data !== undefined) && (
        <Moves
          action={action}
          retriever={retriever}
          mode={readOptions(address.o2)}
          query={asked.q}
          asked={asked.k}
          before={before.data}
          after={after.data}
          stale={busy}
        />
      )}
      {address.run === undefined && after.data === undefined && !busy && error == null && (
        <Empty
          icon={<ArrowUpDown aria-hidden />}
          title="See what the reranker changes"
          text="A retriever finds the candidates; the reranker puts them into another order. Each document's way from its old rank to its new one is drawn."
        />
      )}
    </div>
  )
}
