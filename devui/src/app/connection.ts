/** How server and app stand, as one word and one sentence. */
import type { Live } from "@/api/live"

interface Standing {
  status: "connected" | "connecting" | "starting" | "failed" | "disconnected"
  text: string
}

export function standing({ state, app }: Pick<Live, "state" | "app">): Standing {
  if (state === "closed") return { status: "disconnected", text: "Disconnected" }
  if (state === "connecting" || app === undefined) return { status: "connecting", text: "Connecting" }
  switch (app.state) {
    case "starting":
      return { status: "starting", text: app.restarts > 0 ? "Reloading" : "Starting" }
    case "failed":
      return { status: "failed", text: "App failed" }
    case "ended":
      return { status: "failed", text: "App ended" }
    case "stopping":
      return { status: "disconnected", text: "Stopping" }
    case "running":
      return app.silent
        ? { status: "starting", text: "App is silent" }
        : { status: "connected", text: "Connected" }
  }
}
