/** Texts for an embedder: what their vectors are like, and which of them it takes for alike. */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useSearch } from "@tanstack/react-router"
import { Play, Square, Waypoints } from "lucide-react"
import { useEffect, useState } from "react"
import { api, ask } from "@/api/client"
import type { ActionData, EmbedPreviewData } from "@/api/schema"
import { SchemaForm } from "@/components/schema-form/SchemaForm"
import { TraceLink } from "@/components/TraceLink"
import { Button } from "@/components/ui/Button"
import { Empty } from "@/components/ui/Empty"
import { Failure } from "@/components/ui/Failure"
import { Kbd } from "@/components/ui/Kbd"
import { Section } from "@/components/ui/Section"
import { Segmented } from "@/components/ui/Segmented"
import { useRunKey } from "@/components/useRunKey"
import { useSpanInput } from "@/features/trace/useSpanInput"
import { textOf } from "@/lib/documents"
import { count, duration, plural } from "@/lib/format"
import styles from "./EmbedderBench.module.css"
import { Heatmap } from "./Heatmap"
import { Scatter } from "./Scatter"
import { TextList } from "./TextList"
import { useTexts } from "./texts"
import { VectorTable } from "./VectorTable"

type Shown = { texts: string[]; data: EmbedPreviewData }
type Record_ = Record<string, unknown>

export function EmbedderBench({ action }: { action: ActionData }) {
  const client = useQueryClient()
  const queryKey = ["embed-preview", action.key]
  // The last answer stays while one walks about; only Run asks again.
  const { data: shown } = useQuery<Shown>({ queryKey, queryFn: () => Promise.reject(), enabled: false })
  const [texts, setTexts] = useTexts(action.key)
  const [options, setOptions] = useState<Record_>({})
  const [busy, setBusy] = useState<AbortController>()
  const [error, setError] = useState<unknown>()
  const [lit, setLit] = useState<number>()
  const { from, span } = useSearch({ from: "/run/$kind/$" })
  const earlier = useSpanInput(from, span)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it has arrived
  useEffect(() => {
    const input = (earlier as { input?: unknown } | undefined)?.input
    if (Array.isArray(input)) setTexts(input.map(textOf).filter((text) => text !== ""))
  }, [earlier])
  const given = texts.filter((text) => text.trim() !== "")
  const info = (action.metadata?.info ?? {}) as { dimensions?: number; maxInputTokens?: number }
  const known = optionsOf(action)

  const run = async () => {
    if (given.length === 0 || busy !== undefined) return
    const control = new AbortController()
    setBusy(control)
    setError(undefined)
    try {
      const body = {
        key: action.key,
        texts: given,
        options: Object.keys(options).length === 0 ? null : options,
      }
      const data = await ask(api.POST("/api/embed-preview", { body: body as never, signal: control.signal }))
      client.setQueryData(queryKey, { texts: given, data })
    } catch (problem) {
      if (!control.signal.aborted) setError(problem)
    } finally {
      setBusy(undefined)
    }
  }

  useRunKey(() => void run())
  return (
    <div className={styles.bench}>
      <div className={styles.side}>
        <TextList texts={texts} onChange={setTexts} />
        {known.task && (
          <Segmented
            label="Task"
            value={options.task === "query" ? "query" : "document"}
            onChange={(task) =>
              setOptions(task === "document" ? without(options, "task") : { ...options, task })
            }
            items={[
              { value: "document", label: "as documents" },
              { value: "query", label: "as queries" },
            ]}
          />
        )}
        {known.rest !== undefined && (
          <SchemaForm
            schema={known.rest as never}
            value={without(options, "task")}
            onChange={(value: unknown) => {
              const task = options.task === undefined ? {} : { task: options.task }
              setOptions({ ...((value ?? {}) as Record_), ...task })
            }}
          />
        )}
        <div className={styles.run}>
          {busy === undefined ? (
            <Button
              variant="primary"
              icon={<Play aria-hidden />}
              disabled={given.length === 0}
              onClick={() => void run()}
            >
              Embed {plural(given.length, "text")} <Kbd keys="Mod+Enter" />
            </Button>
          ) : (
            <Button icon={<Square aria-hidden />} onClick={() => busy.abort()}>
              Cancel
            </Button>
          )}
        </div>
      </div>
      <div className={styles.main}>
        {error !== undefined && <Failure error={error} onRetry={() => void run()} />}
        {shown === undefined ? (
          error === undefined && (
            <Empty
              icon={<Waypoints aria-hidden />}
              title="Compare some texts"
              text="Give two or more texts. You will see the vectors, how alike each pair is, and where they lie beside each other."
            />
          )
        ) : (
          <div
            className={styles.results}
            data-stale={busy !== undefined || undefined}
            aria-busy={busy !== undefined}
          >
            <dl className={styles.facts}>
              <Fact name="Dimension" value={count(shown.data.dimension)} />
              <Fact name="Texts" value={count(shown.texts.length)} />
              <Fact name="Time" value={duration(shown.data.durationMs)} />
              {info.maxInputTokens !== undefined && (
                <Fact name="Token limit" value={count(info.maxInputTokens)} />
              )}
              {shown.data.run.traceId && (
                <div className={styles.fact}>
                  <dt>Trace</dt>
                  <dd>
                    <TraceLink traceId={shown.data.run.traceId} />
                  </dd>
                </div>
              )}
            </dl>
            {shown.texts.length > 1 && (
              <div className={styles.pictures}>
                <Section title="Similarity (cosine)">
                  <Heatmap texts={shown.texts} matrix={shown.data.similarity} lit={lit} onLight={setLit} />
                </Section>
                <Section title="On a plane (principal components)">
                  <Scatter
                    texts={shown.texts}
                    points={shown.data.vectors.map(({ x, y }) => [x, y])}
                    explained={shown.data.explained}
                    lit={lit}
                    onLight={setLit}
                  />
                </Section>
              </div>
            )}
            <Section title="Vectors">
              <VectorTable texts={shown.texts} data={shown.data} lit={lit} onLight={setLit} />
            </Section>
          </div>
        )}
      </div>
    </div>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function without(record: Record_, name: string): Record_ {
  const { [name]: _, ...rest } = record
  return rest
}

function optionsOf(action: ActionData): { task: boolean; rest: Record_ | undefined } {
  const own = action.metadata?.embedder as { customOptions?: Record_ } | undefined
  const schema = own?.customOptions ?? {}
  const { task, ...rest } = (schema.properties ?? {}) as Record_
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => name !== "task") : []
  return {
    task: task !== undefined,
    rest: Object.keys(rest).length === 0 ? undefined : { ...schema, properties: rest, required },
  }
}
