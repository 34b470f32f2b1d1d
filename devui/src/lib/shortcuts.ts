/** Every key that does something, for the sheet and the settings page. */
import { ROOMS } from "./rooms"

interface ShortcutGroup {
  title: string
  keys: readonly (readonly [keys: string, what: string])[]
}

export const SHORTCUTS: readonly ShortcutGroup[] = [
  {
    title: "Everywhere",
    keys: [
      ["Mod+K", "Search actions, traces, pages and commands"],
      ["?", "Show these keys"],
      ["/", "Go to the search field of the page"],
      ...ROOMS.map((room) => [`G ${room.key.toUpperCase()}`, room.name] as const),
    ],
  },
  {
    title: "Runner",
    keys: [
      ["Mod+Enter", "Run"],
      ["Escape", "Cancel what runs"],
      ["Mod+J", "Form or JSON"],
      ["ArrowUp", "In an empty input: the last one"],
    ],
  },
  {
    title: "Trace",
    keys: [
      ["ArrowUp ArrowDown", "Move"],
      ["ArrowLeft ArrowRight", "Close or open a part"],
      ["Enter", "Details"],
      ["[ ]", "Close or open all"],
      ["E", "Next error"],
      ["T", "Timeline"],
      ["R", "Open in the runner"],
      ["J K", "Next or previous trace"],
    ],
  },
]
