/** What is to be indexed: a file that is dropped or picked, a file of the project, or a text. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { FileUp, Upload as UploadIcon } from "lucide-react"
import { useRef, useState } from "react"
import { api, ask, request } from "@/api/client"
import { keys } from "@/api/queries"
import type { Upload } from "@/api/schema"
import { Failure } from "@/components/ui/Failure"
import { Segmented } from "@/components/ui/Segmented"
import { TextField } from "@/components/ui/TextField"
import { bytes } from "@/lib/format"
import styles from "./IndexerBench.module.css"
import type { Material } from "./material"

const NOTE = "note.txt"

type SourcePickerProps = {
  material: Material | undefined
  onChange: (material: Material | undefined) => void
}

export function SourcePicker({ material, onChange }: SourcePickerProps) {
  const [kind, setKind] = useState<Material["kind"]>(material?.kind ?? "upload")
  const choose = (next: Material["kind"]) => {
    setKind(next)
    if (next === "path") onChange({ kind: "path", path: "" })
    else if (next === "text") onChange({ kind: "text", text: "", name: NOTE })
    else onChange(undefined)
  }
  return (
    <section className={styles.source} aria-label="Source">
      <Segmented
        label="Kind of source"
        value={kind}
        onChange={choose}
        items={[
          { value: "upload", label: "Upload" },
          { value: "path", label: "Project file" },
          { value: "text", label: "Text" },
        ]}
      />
      {kind === "upload" && <Uploads material={material} onChange={onChange} />}
      {kind === "path" && (
        <TextField
          label="Path in the project"
          value={material?.kind === "path" ? material.path : ""}
          onChange={(path) => onChange({ kind: "path", path })}
          placeholder="docs/menu.pdf"
        />
      )}
      {kind === "text" && (
        <TextField
          label="Text"
          multiline
          rows={6}
          value={material?.kind === "text" ? material.text : ""}
          onChange={(text) =>
            onChange({ kind: "text", text, name: material?.kind === "text" ? material.name : NOTE })
          }
        />
      )}
      {(material?.kind === "upload" || material?.kind === "text") && (
        <TextField
          label="Stored as"
          value={material.name}
          onChange={(name) => onChange({ ...material, name })}
          hint="The source of its chunks. An index has each source once."
        />
      )}
    </section>
  )
}

function Uploads({ material, onChange }: SourcePickerProps) {
  const client = useQueryClient()
  const picker = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const { data } = useQuery({
    queryKey: keys.uploads,
    queryFn: ({ signal }) => ask(api.GET("/api/uploads", { signal })),
  })
  const take = (upload: Upload) =>
    onChange({ kind: "upload", path: upload.path, name: upload.name, sizeBytes: upload.sizeBytes })
  const upload = useMutation({
    mutationFn: async (file: File) => {
      const form = new FormData()
      form.append("file", file)
      const response = await request(`${location.origin}/api/uploads`, { method: "POST", body: form })
      return (await response.json()) as Upload
    },
    onSuccess: (told) => {
      take(told)
      void client.invalidateQueries({ queryKey: keys.uploads })
    },
  })
  const give = (files: FileList | null) => {
    const file = files?.[0]
    if (file !== undefined) upload.mutate(file)
  }
  return (
    <>
      <button
        type="button"
        className={styles.drop}
        data-over={over || undefined}
        aria-busy={upload.isPending}
        onClick={() => picker.current?.click()}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setOver(false)
          give(event.dataTransfer.files)
        }}
      >
        <FileUp aria-hidden size={18} />
        {upload.isPending ? (
          <span>Uploading {upload.variables.name}…</span>
        ) : (
          <span>
            <b>Drop a file</b> or pick one: PDF, Markdown, HTML, source code, text
          </span>
        )}
      </button>
      <input
        ref={picker}
        type="file"
        className={styles.hidden}
        aria-label="File to index"
        tabIndex={-1}
        onChange={(event) => {
          give(event.target.files)
          event.target.value = ""
        }}
      />
      {upload.isError && <Failure error={upload.error} />}
      {data !== undefined && data.uploads.length > 0 && (
        <ul className={styles.uploads} aria-label="Uploads">
          {data.uploads.slice(0, 4).map((each) => (
            <li key={each.id}>
              <button
                type="button"
                className={styles.upload}
                aria-pressed={material?.kind === "upload" && material.path === each.path}
                onClick={() => take(each)}
              >
                <UploadIcon aria-hidden size={13} />
                <span>{each.name}</span>
                <span className={styles.dim}>{bytes(each.sizeBytes)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
