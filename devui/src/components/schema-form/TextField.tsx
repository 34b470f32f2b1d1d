/** A text: one line that grows, a date, a secret, the path of a file. */
import { CalendarClock, Upload } from "lucide-react"
import { useRef, useState } from "react"
import { request } from "@/api/client"
import type { components } from "@/api/schema"
import { Button, IconButton } from "@/components/ui/Button"
import { failed } from "@/components/ui/toast"
import { bytes } from "@/lib/format"
import type { Field } from "./fields"
import { useForm } from "./form"
import styles from "./form.module.css"
import { type Place, placeholder, Row, useControl } from "./Row"

type TextOf = Field & { kind: "string" }

interface Props {
  place: Place
  field: TextOf
  value: string | null | undefined
}

/** A field that grows with its text is laid out twice with each letter: above this it has one height. */
const LONG = 20_000

export function TextField(props: Props) {
  const { place, field, value } = props
  const form = useForm()
  const control = useControl(place, field)
  const { input } = field
  if (input === "file") return <Base64Field {...props} />
  // A native date picker shows only what it understands; anything else stays visible as text.
  const native = input === "date" && (value ?? "") === (/^\d{4}-\d\d-\d\d$/.test(value ?? "") ? value : "")
  // Taking a text away leaves it out; where it was given as an empty one, it stays so.
  const onChange = (text: string) => form.edit(place.path, text === "" ? undefined : text)
  const common = { ...control, value: value ?? "", placeholder: hint(field, value) }
  return (
    <Row place={place} field={field} value={value} type={typeOf(field, value)} extra={<Extra {...props} />}>
      {input === "text" || input === "long" ? (
        <textarea
          {...common}
          className={styles.area}
          data-long={(value ?? "").length > LONG || undefined}
          rows={input === "long" || place.path.length === 0 ? 3 : 1}
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input
          {...common}
          className={styles.input}
          type={input === "password" ? "password" : native ? "date" : "text"}
          inputMode={input === "uri" ? "url" : input === "email" ? "email" : undefined}
          autoComplete={input === "password" ? "new-password" : "off"}
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Row>
  )
}

function hint(field: TextOf, value: string | null | undefined): string {
  if (value === "") return "empty text"
  const found = placeholder(field, value)
  if (found !== "") return found
  if (field.input === "date-time") return "2026-11-30T09:30:00Z"
  if (field.input === "time") return "09:30:00"
  return field.input === "uri" ? "https://…" : ""
}

function typeOf(field: TextOf, value: string | null | undefined): string | undefined {
  if (value === "") return 'empty text ""'
  const { minLength, maxLength, format } = field.schema
  if (typeof format === "string") return format
  if (minLength !== undefined && maxLength !== undefined) return `${minLength} to ${maxLength} characters`
  if (maxLength !== undefined) return `up to ${maxLength} characters`
  return minLength !== undefined && minLength > 1 ? `from ${minLength} characters` : undefined
}

function Extra({ place, field }: Props) {
  const form = useForm()
  if (field.input === "date-time")
    return (
      <IconButton
        label={`Set ${place.label} to now`}
        size="s"
        icon={<CalendarClock aria-hidden />}
        disabled={form.disabled}
        onClick={() => form.edit(place.path, new Date().toISOString())}
      />
    )
  return field.input === "path" ? <UploadButton place={place} /> : null
}

/** A file of this machine goes to the dev server, and its path there becomes the value. */
function UploadButton({ place }: { place: Place }) {
  const form = useForm()
  const chooser = useRef<HTMLInputElement>(null)
  const [busy, setBusy] = useState(false)
  const upload = async (file: File | undefined) => {
    if (file === undefined) return
    setBusy(true)
    const body = new FormData()
    body.set("file", file)
    try {
      const response = await request("/api/uploads", { method: "POST", body })
      const told: components["schemas"]["Upload"] = await response.json()
      form.edit(place.path, told.path)
    } catch (error) {
      failed(`${file.name} was not uploaded`)(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <IconButton
        label={`Upload a file for ${place.label}`}
        size="s"
        icon={<Upload aria-hidden />}
        busy={busy}
        disabled={form.disabled}
        onClick={() => chooser.current?.click()}
      />
      <input
        ref={chooser}
        type="file"
        hidden
        aria-label={`File for ${place.label}`}
        onChange={(event) => void upload(event.target.files?.[0])}
      />
    </>
  )
}

/** Bytes as base64: a file is read here, and only its size is shown. */
function Base64Field({ place, field, value }: Props) {
  const form = useForm()
  const control = useControl(place, field)
  const chooser = useRef<HTMLInputElement>(null)
  const read = async (file: File | undefined) => {
    if (file === undefined) return
    const read = new FileReader()
    read.onload = () => form.edit(place.path, String(read.result).replace(/^[^,]*,/, ""))
    read.readAsDataURL(file)
  }
  const given = typeof value === "string" && value !== ""
  return (
    <Row
      place={place}
      field={field}
      value={value}
      type="base64"
      extra={
        <Button size="s" icon={<Upload aria-hidden />} onClick={() => chooser.current?.click()}>
          File…
        </Button>
      }
    >
      {given && value.length > 200 ? (
        <output id={control.id} aria-describedby={control["aria-describedby"]} className={styles.fixed}>
          {bytes(Math.floor((value.length * 3) / 4))}
        </output>
      ) : (
        <input
          {...control}
          className={styles.input}
          value={value ?? ""}
          onChange={(event) => form.edit(place.path, event.target.value || undefined)}
        />
      )}
      <input
        ref={chooser}
        type="file"
        hidden
        aria-label={`File for ${place.label}`}
        onChange={(event) => void read(event.target.files?.[0])}
      />
    </Row>
  )
}
