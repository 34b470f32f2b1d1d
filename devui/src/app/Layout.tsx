/** The frame around every page: rail, top bar, news of app and connection, palette. The page itself scrolls in `main`. */
import { CSPProvider } from "@base-ui/react/csp-provider"
import { Tooltip } from "@base-ui/react/tooltip"
import { Outlet, useRouterState } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { startLive } from "@/api/live"
import { Toaster } from "@/components/ui/Toaster"
import { cspNonce } from "@/lib/nonce"
import { AppNews } from "./AppNews"
import styles from "./Layout.module.css"
import { Offline } from "./Offline"
import { Palette } from "./Palette"
import { Rail } from "./Rail"
import { Reloaded } from "./Reloaded"
import { ShortcutSheet } from "./ShortcutSheet"
import { TopBar } from "./TopBar"
import { useShortcuts } from "./useShortcuts"

export function Layout() {
  const [palette, setPalette] = useState(false)
  const [sheet, setSheet] = useState(false)
  const path = useRouterState({ select: (state) => state.location.pathname })
  useEffect(startLive, [])
  useShortcuts({ onPalette: () => setPalette((open) => !open), onSheet: () => setSheet(true) })
  const nonce = cspNonce()

  return (
    <CSPProvider {...(nonce === undefined ? {} : { nonce })}>
      <Tooltip.Provider delay={400}>
        <a className={styles.skip} href="#main">
          Go to the page
        </a>
        <div className={styles.frame}>
          <Rail path={path} />
          <div className={styles.side}>
            <TopBar onPalette={() => setPalette(true)} />
            <Offline />
            <Reloaded />
            <div className={styles.page}>
              <main id="main" className={styles.main} tabIndex={-1} data-scroll-restoration-id="main">
                <Outlet />
              </main>
              <AppNews />
            </div>
          </div>
        </div>
        <Palette open={palette} onClose={() => setPalette(false)} onSheet={() => setSheet(true)} />
        <ShortcutSheet open={sheet} onClose={() => setSheet(false)} />
        <Toaster />
      </Tooltip.Provider>
    </CSPProvider>
  )
}
