/** How the text is cut: the splitter, and its settings as a form. */
import { useQuery } from "@tanstack/react-query"
import { ApiError, api, ask } from "@/api/client"
import { SchemaForm } from "@/components/schema-form/SchemaForm"
import { Failure } from "@/components/ui/Failure"
import { Select } from "@/components/ui/Select"
import { Skeleton } from "@/components/ui/Skeleton"
import styles from "./IndexerBench.module.css"
import type { Cutting } from "./material"

type SplitterFormProps = { cutting: Cutting; onChange: (cutting: Cutting) => void; error: unknown }

export function SplitterForm({ cutting, onChange, error }: SplitterFormProps) {
  const splitters = useQuery({
    queryKey: ["splitters"],
    queryFn: ({ signal }) => ask(api.GET("/api/splitters", { signal })),
  })
  if (splitters.isError) return <Failure error={splitters.error} onRetry={() => splitters.refetch()} />
  if (splitters.isPending) return <Skeleton lines={4} />
  const all = splitters.data.splitters
  const chosen = all.find((each) => each.name === cutting.splitter) ?? all[0]
  return (
    <section className={styles.source} aria-label="Splitter">
      <Select
        label="Splitter"
        showLabel
        value={chosen?.name}
        onChange={(splitter) => onChange({ splitter, settings: {} })}
        items={all.map((each) => ({ value: each.name, label: each.name }))}
      />
      <p className={styles.about}>{chosen?.description.replaceAll("`", "")}</p>
      {chosen && (
        <SchemaForm
          key={chosen.name}
          idPrefix="split"
          schema={chosen.settings as never}
          value={cutting.settings}
          onChange={(value: unknown) =>
            onChange({ splitter: chosen.name, settings: (value ?? {}) as Record<string, unknown> })
          }
          errors={settingErrors(error)}
        />
      )}
    </section>
  )
}

/** What the server finds wrong with a setting, by the name of its field. */
export function settingErrors(error: unknown): { path: string; message: string }[] {
  if (!(error instanceof ApiError)) return []
  return error.fields
    .filter(({ path }) => path.startsWith("settings."))
    .map(({ path, message }) => ({ path: path.slice("settings.".length), message }))
}
