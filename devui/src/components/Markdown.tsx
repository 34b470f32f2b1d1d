/** Text of a model or a document, with its markup. Hostile until proven otherwise: no HTML, nothing loaded from elsewhere. */
import { lazy, Suspense } from "react"
import styles from "./Markdown.module.css"

const Rendered = lazy(() => import("./MarkdownText"))

export function Markdown({ text }: { text: string }) {
  return (
    <div className={styles.markdown}>
      <Suspense fallback={<p className={styles.plain}>{text}</p>}>
        <Rendered text={text} />
      </Suspense>
    </div>
  )
}
