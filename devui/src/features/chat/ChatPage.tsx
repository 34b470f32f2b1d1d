/** A model to talk to: turns with branches, streamed, with the model's own settings beside them. */
import { MessagesSquare } from "lucide-react"
import { useMemo, useRef, useState } from "react"
import type { ActionData } from "@/api/schema"
import { Empty } from "@/components/ui/Empty"
import { SplitPane } from "@/components/ui/SplitPane"
import { useStickyEnd } from "@/components/useStickyEnd"
import styles from "./ChatPage.module.css"
import { Composer } from "./Composer"
import { abilities } from "./request"
import { SettingsPanel } from "./SettingsPanel"
import { TurnView } from "./TurnView"
import { branches } from "./tree"
import { type Source, useChat } from "./useChat"

export function ChatPage({ action }: { action: ActionData }) {
  const can = useMemo(() => abilities(action.metadata), [action.metadata])
  const [system, setSystem] = useState("")
  const [config, setConfig] = useState<unknown>(undefined)
  const [source, setSource] = useState<Source>({ retriever: undefined, k: 3 })
  const settings = useMemo(() => ({ system: can.systemRole ? system : "", config }), [can, system, config])
  const chat = useChat(action.key, settings, source, can.multiturn)
  const box = useRef<HTMLDivElement>(null)
  const { onScroll } = useStickyEnd(box, chat.shown)
  const { running } = chat

  return (
    <SplitPane
      id="chat"
      defaultSize={320}
      min={260}
      label="Size of the settings"
      first={
        <section className={styles.talk} aria-label="Conversation">
          <div ref={box} className={styles.turns} onScroll={onScroll}>
            {chat.shown.length === 0 ? (
              <Empty
                icon={<MessagesSquare aria-hidden />}
                title={`Talk to ${action.name}`}
                text={action.description ?? "Each turn is a run of the model, with a trace of its own."}
              />
            ) : (
              <ol>
                {chat.shown.map((turn) => (
                  <TurnView
                    key={turn.id}
                    turn={turn}
                    branches={branches(chat.tree, turn)}
                    busy={running !== undefined}
                    onPick={chat.pick}
                    onSend={(text) => {
                      const parent = chat.tree.turns.find((one) => one.id === turn.parent)
                      void chat.send(text, parent ?? "start")
                    }}
                  />
                ))}
              </ol>
            )}
          </div>
          <Composer
            running={running !== undefined}
            last={chat.shown.at(-1)?.text}
            onSend={(text) => void chat.send(text)}
            onCancel={chat.cancel}
          />
        </section>
      }
      second={
        <SettingsPanel
          action={action}
          can={can}
          chat={chat}
          settings={settings}
          system={system}
          onSystem={setSystem}
          onConfig={setConfig}
          source={source}
          onSource={setSource}
        />
      }
    />
  )
}
