/** Give a text to the person as a file: `download("output.json", text)`. */
export function download(name: string, text: string): void {
  const type = name.endsWith(".json") ? "application/json" : "text/plain"
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }))
  const link = document.createElement("a")
  link.href = url
  link.download = name.replaceAll(/[/\\]/g, "-")
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
