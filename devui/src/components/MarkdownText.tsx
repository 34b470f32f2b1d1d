/** The part of Markdown that is loaded when it is first needed. */
import { ImageIcon } from "lucide-react"
import ReactMarkdown, { type Components } from "react-markdown"
import remarkGfm from "remark-gfm"
import styles from "./Markdown.module.css"

const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href === undefined || href === "" ? (
      <span>{children}</span>
    ) : (
      <a href={href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    ),
  img: ({ src, alt }) => <Image src={typeof src === "string" ? src : ""} alt={alt ?? ""} />,
  table: ({ children }) => (
    <div className={styles.wide}>
      <table>{children}</table>
    </div>
  ),
}

export default function MarkdownText({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={[remarkGfm]} components={COMPONENTS} urlTransform={safeAddress}>
      {text}
    </ReactMarkdown>
  )
}

/** A picture inside the text is shown; one from elsewhere is a link that says where it would lead. */
function Image({ src, alt }: { src: string; alt: string }) {
  if (/^data:image\/(png|jpeg|gif|webp);base64,/i.test(src)) return <img src={src} alt={alt} />
  const host = hostOf(src)
  if (host === undefined) return <span>{alt}</span>
  return (
    <a className={styles.image} href={src} target="_blank" rel="noopener noreferrer">
      <ImageIcon size={13} aria-hidden />
      {alt === "" ? "Image" : alt} ({host})
    </a>
  )
}

function hostOf(address: string): string | undefined {
  try {
    const url = new URL(address)
    return url.protocol === "http:" || url.protocol === "https:" ? url.host : undefined
  } catch {
    return undefined
  }
}

/** Addresses of the web and of mail; everything else (`javascript:`, `file:`, our own pages) leads nowhere. */
function safeAddress(address: string): string {
  if (/^data:image\/(png|jpeg|gif|webp);base64,/i.test(address)) return address
  return /^(https?:\/\/|mailto:)/i.test(address) ? address : ""
}
