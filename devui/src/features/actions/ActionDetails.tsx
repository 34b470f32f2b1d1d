/** One action: what it is, where it is written, what it takes and gives. */
import { Play, X } from "lucide-react"
import { useState } from "react"
import type { ActionData } from "@/api/schema"
import { JsonView } from "@/components/JsonView"
import { KindTag } from "@/components/KindTag"
import { Source } from "@/components/Source"
import { IconButton, LinkButton } from "@/components/ui/Button"
import { TabPanel, Tabs } from "@/components/ui/Tabs"
import styles from "./ActionsPage.module.css"
import { Types } from "./ActionTable"
import { SchemaFields } from "./SchemaFields"

export function ActionDetails({ action, onClose }: { action: ActionData; onClose: () => void }) {
  const [tab, setTab] = useState("input")
  const { source, metadata } = action
  return (
    <section className={styles.details} aria-label={`Details of ${action.name}`}>
      <div className={styles.head}>
        <h2>{action.name}</h2>
        <LinkButton
          to="/run/$kind/$"
          params={{ kind: action.kind, _splat: action.name }}
          search={{}}
          variant="primary"
          size="s"
          icon={<Play aria-hidden />}
        >
          Run
        </LinkButton>
        <IconButton label="Close details" size="s" icon={<X aria-hidden />} onClick={onClose} />
      </div>
      <div className={styles.facts}>
        <KindTag kind={action.kind} />
        <Types action={action} />
      </div>
      {action.description && <p>{action.description}</p>}
      {source?.file ? (
        <Source file={source.file} line={source.line} />
      ) : (
        source?.function && <code className={styles.quiet}>{source.function}</code>
      )}
      {action.index && (
        <p className={styles.quiet}>
          Index {action.index.name}, searched by {action.index.mode}
          {action.index.embedder ? `, embedded by ${action.index.embedder}` : ""}
        </p>
      )}
      <Tabs
        label="Schemas"
        value={tab}
        onChange={setTab}
        items={[
          { value: "input", label: "Input" },
          { value: "output", label: "Output" },
          ...(action.chunkSchema ? [{ value: "chunk", label: "Stream" }] : []),
          { value: "metadata", label: "Metadata" },
        ]}
      >
        <TabPanel value="input">
          <SchemaFields schema={action.inputSchema} label="Input" />
        </TabPanel>
        <TabPanel value="output">
          <SchemaFields schema={action.outputSchema} label="Output" />
        </TabPanel>
        <TabPanel value="chunk">
          <SchemaFields schema={action.chunkSchema} label="Stream" />
        </TabPanel>
        <TabPanel value="metadata">
          <div className={styles.json}>
            <JsonView value={{ key: action.key, ...metadata }} label="Metadata" />
          </div>
        </TabPanel>
      </Tabs>
    </section>
  )
}
