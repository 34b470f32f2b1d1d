/** A picture is shown, anything else is named with its size and can be saved: its base64 is never printed. */
import { Download } from "lucide-react"
import { bytes } from "@/lib/format"
import type { Media } from "./output"
import styles from "./runner.module.css"

export function MediaView({ url, type }: Media) {
  const size = bytes(url.slice(0, 100).includes(";base64,") ? url.length * 0.75 : url.length)
  // SVG may hold scripts, which a picture never runs.
  const picture = /^image\/(png|jpeg|gif|webp|avif|svg\+xml)$/.test(type)
  return (
    <figure className={styles.media}>
      {picture && <img src={url} alt={`Output, ${type}`} />}
      <figcaption>
        {type} · {size}{" "}
        <a href={url} download={`output.${type.split("/")[1]?.split("+")[0] ?? "bin"}`}>
          <Download size={13} aria-hidden /> Download
        </a>
      </figcaption>
    </figure>
  )
}
