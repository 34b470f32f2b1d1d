/** Writes build-info.json: which sources the bundle was made of. A Python test compares it with what is there. */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join, relative, sep } from "node:path"
import type { Plugin } from "vite"

const SOURCES = ["build", "public", "src", "index.html", "package-lock.json", "vite.config.ts"]

/** SHA-256 over path and bytes of each source, in the order of their paths (UTF-16 code units of POSIX paths). */
export function sourceHash(root: string): string {
  const files = SOURCES.flatMap((name) => listed(join(root, name)))
    .map((file) => [relative(root, file).split(sep).join("/"), file] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const hash = createHash("sha256")
  for (const [name, file] of files) {
    const bytes = readFileSync(file)
    hash.update(`${name}\0${bytes.length}\0`).update(bytes)
  }
  return hash.digest("hex")
}

function listed(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => listed(join(path, entry.name)))
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === "ENOTDIR") return [path]
    if (code === "ENOENT") return []
    throw error
  }
}

export function buildInfo(root: string): Plugin {
  return {
    name: "flowkit-build-info",
    apply: "build",
    generateBundle() {
      const source = `${JSON.stringify({ sources: sourceHash(root) })}\n`
      this.emitFile({ type: "asset", fileName: "build-info.json", source })
    },
  }
}
