/**
 * Saves something as a file.
 *
 *     download(`/api/traces/${id}/export`, "trace.json")
 *     downloadText(JSON.stringify(output), "output.json")
 */
export function download(url: string, name: string): void {
  const link = document.createElement("a")
  link.href = url
  link.download = name.replaceAll(/[/\\]/g, "-")
  link.click()
}

export function downloadText(text: string, name: string): void {
  const type = name.endsWith(".json") ? "application/json" : "text/plain"
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }))
  download(url, name)
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
