/** Ask a retriever, and see what it finds and why; beside another one, or the same with other options. */
import { useQuery } from "@tanstack/react-query"
import { useSearch } from "@tanstack/react-router"
import { TextSearch } from "lucide-react"
import { useEffect, useMemo, useState } from "react"
import { actionsQuery } from "@/api/queries"
import { cancelRun, startRun } from "@/api/runs"
import { useFinished } from "@/api/runToEnd"
import type { ActionData } from "@/api/schema"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { Skeleton } from "@/components/ui/Skeleton"
import { useSpanInput } from "@/features/trace/useSpanInput"
import { documentsOf } from "@/lib/documents"
import { joined } from "@/lib/filterText"
import { CompareView } from "./CompareView"
import { fieldError } from "./errors"
import { askedOf, inputOf, optionsOf, readOptions, writeOptions } from "./options"
import { QueryForm } from "./QueryForm"
import { QuerySet } from "./QuerySet"
import { ResultList } from "./ResultList"
import styles from "./RetrievalBench.module.css"
import { askedIn, useAddress, useDraft } from "./useBench"

export function RetrieverBench({ action }: { action: ActionData }) {
  const [address, setAddress] = useAddress()
  const { from, span } = useSearch({ from: "/run/$kind/$" })
  const asked = useMemo(() => askedIn(address, action), [address, action])
  const [draft, edit] = useDraft(asked)
  const earlier = useSpanInput(address.q === undefined ? from : undefined, span)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it has arrived
  useEffect(() => {
    if (earlier !== undefined) edit(askedOf(earlier))
  }, [earlier])

  const { data: listed } = useQuery(actionsQuery)
  const retrievers = listed?.actions.filter((each) => each.kind === "retriever") ?? [action]
  const other =
    address.compare === undefined ? undefined : retrievers.find((each) => each.key === address.compare)
  const [otherOptions, setOtherOptions] = useState(() => readOptions(address.o2))
  // biome-ignore lint/correctness/useExhaustiveDependencies: another retriever has options of its own
  useEffect(() => setOtherOptions(readOptions(address.o2)), [address.o2, address.compare])

  const known = optionsOf(action)
  const first = useFinished(address.run)
  const second = useFinished(other === undefined ? undefined : address.run2)
  const [starting, setStarting] = useState(false)
  const [refused, setRefused] = useState<unknown>()
  const busy = starting || first.isFetching || second.isFetching
  const [setOpen, setSetOpen] = useState(false)

  const run = async (change: Partial<typeof draft> = {}) => {
    const now = { ...draft, ...change }
    if (now.q.trim() === "" || busy) return
    setStarting(true)
    setRefused(undefined)
    try {
      const runs = await Promise.all([
        startRun({ key: action.key, input: inputOf(known, now) }),
        other === undefined
          ? undefined
          : startRun({ key: other.key, input: inputOf(optionsOf(other), { ...now, options: otherOptions }) }),
      ])
      setAddress(
        {
          q: now.q,
          k: String(now.k),
          where: now.where.trim(),
          o: writeOptions(now.options),
          o2: other === undefined ? undefined : writeOptions(otherOptions),
          run: runs[0].runId,
          run2: runs[1]?.runId,
        },
        true,
      )
    } catch (error) {
      setRefused(error)
    } finally {
      setStarting(false)
    }
  }
  const cancel = () => {
    for (const id of [address.run, address.run2])
      if (id !== undefined) void cancelRun(id).catch(() => undefined)
  }

  const error = refused ?? first.error
  const whereError = known.where ? fieldError(error, "where") : undefined
  const hits = first.data === undefined ? undefined : documentsOf(first.data.result).slice(0, asked.k)
  const narrow = known.where ? (term: string) => void run({ where: joined(draft.where, term) }) : undefined

  return (
    <div className={styles.bench} data-set={setOpen || undefined}>
      <div className={styles.main}>
        <QueryForm
          action={action}
          draft={draft}
          onEdit={edit}
          onRun={() => void run()}
          onCancel={cancel}
          busy={busy}
          whereError={whereError}
          retrievers={retrievers}
          other={address.compare}
          onOther={(key) => setAddress({ compare: key, o2: undefined, run2: undefined })}
          otherOptions={otherOptions}
          onOtherOptions={setOtherOptions}
          setOpen={setOpen}
          onSet={setSetOpen}
        />
        {error !== undefined && error !== null && whereError === undefined && (
          <Failure error={error} onRetry={() => void run()} />
        )}
        {(busy || address.run !== undefined) && first.isPending && <Skeleton lines={8} />}
        {other !== undefined && hits !== undefined && first.data !== undefined ? (
          <CompareView
            query={asked.q}
            left={{ action, options: asked.options, finished: first.data, hits }}
            right={{
              action: other,
              options: readOptions(address.o2),
              finished: second.data,
              hits: second.data === undefined ? undefined : documentsOf(second.data.result).slice(0, asked.k),
              error: second.error,
            }}
            stale={busy}
          />
        ) : (
          hits !== undefined &&
          first.data !== undefined && (
            <ResultList
              action={action}
              options={asked.options}
              query={asked.q}
              hits={hits}
              run={first.data.run}
              stale={busy || first.isPlaceholderData}
              filtered={asked.where !== ""}
              onFilter={narrow}
            />
          )
        )}
        {address.run === undefined && hits === undefined && !busy && error == null && (
          <Empty
            icon={<TextSearch aria-hidden />}
            title="Ask something"
            text="What the retriever finds is shown in its order, with scores, the words that match, and where each piece is from."
          />
        )}
      </div>
      {setOpen && (
        <QuerySet
          action={action}
          draft={draft}
          other={other === undefined ? undefined : { action: other, options: otherOptions }}
          current={address.q}
          onOpen={(found) =>
            setAddress(
              {
                q: found.q,
                k: String(draft.k),
                where: draft.where,
                o: writeOptions(draft.options),
                run: found.run,
                run2: found.run2,
              },
              true,
            )
          }
          onRun={(q) => void run({ q })}
        />
      )}
    </div>
  )
}
