/** The app has no action yet: how the first one is written. */
import { CopyButton } from "@/components/ui/CopyButton"
import styles from "./HomePage.module.css"

const FLOW = `from flowkit import Flowkit

ai = Flowkit()


@ai.flow("hello")
async def hello(name: str) -> str:
    """Greet somebody."""
    return f"Hello, {name}!"`

const EASY = "flowkit rag:index docs/ && flowkit rag:ask 'How do I begin?'"

export function QuickStart() {
  return (
    <section className={styles.start} aria-label="Quick start">
      <div className={styles.step}>
        <h2>The app runs, and has no actions yet</h2>
        <p>Save this in the app's file. It appears here as soon as it is saved, with a form for its input.</p>
        <Code text={FLOW} />
      </div>
      <div className={styles.step}>
        <h2>Or ask your documents, without code</h2>
        <Code text={EASY} />
      </div>
    </section>
  )
}

function Code({ text }: { text: string }) {
  return (
    <pre className={styles.code}>
      <code>{text}</code>
      <span className={styles.copy}>
        <CopyButton text={text} />
      </span>
    </pre>
  )
}
