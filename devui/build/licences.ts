/** Writes licences.txt: name, version, licence and its text for every package whose code is in the bundle. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Plugin } from "vite"

const ALLOWED = new Set(["Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "ISC", "MIT"])

interface Manifest {
  name: string
  version: string
  license?: string
}

export function licences(): Plugin {
  return {
    name: "flowkit-licences",
    apply: "build",
    generateBundle() {
      const folders = new Set(
        [...this.getModuleIds()].map(packageFolder).filter((folder) => folder !== undefined),
      )
      const texts = [...folders].map(described).sort((a, b) => a.localeCompare(b, "en"))
      this.emitFile({
        type: "asset",
        fileName: "licences.txt",
        source: [...new Set(texts)].join(`\n${"-".repeat(80)}\n`),
      })
    },
  }
}

/** The folder of the package that holds a module, when it is not our own. */
function packageFolder(id: string): string | undefined {
  if (!id.includes("/node_modules/")) return undefined
  let folder = dirname(id.replace(/^\0/, "").replace(/\?.*$/, ""))
  while (folder.includes("/node_modules/")) {
    const file = join(folder, "package.json")
    if (existsSync(file) && (JSON.parse(readFileSync(file, "utf8")) as Partial<Manifest>).version)
      return folder
    folder = dirname(folder)
  }
  return undefined
}

function described(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest
  if (!ALLOWED.has(manifest.license ?? ""))
    throw new Error(`${manifest.name} is under ${manifest.license ?? "no licence"}`)
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
  const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim()
  return `${manifest.name} ${manifest.version} (${manifest.license})\n\n${text}\n`
}
