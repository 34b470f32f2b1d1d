import { fileURLToPath } from "node:url"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"
import { chunks } from "./build/chunks.ts"
import { buildInfo } from "./build/info.ts"
import { licences } from "./build/licences.ts"

const here = fileURLToPath(new URL(".", import.meta.url))
const server = process.env.FLOWKIT_URL ?? "http://127.0.0.1:4100"

export default defineConfig({
  plugins: [react(), licences(), buildInfo(here)],
  resolve: { alias: { "@": `${here}src` } },
  build: {
    outDir: process.env.FLOWKIT_DEVUI_DIR ?? `${here}../flowkit/server/static`,
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    // Stable names: the bundle is under version control, and is served with an ETag.
    rollupOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
        codeSplitting: chunks(),
      },
    },
  },
  server: {
    proxy: {
      "/api": {
        target: server,
        changeOrigin: true,
        // The dev server takes requests of its own page only.
        configure: (proxy) => proxy.on("proxyReq", (request) => request.setHeader("origin", server)),
      },
    },
  },
})
