/**
 * Saves what an address of the server gives as a file.
 *
 *     download(`/api/traces/${id}/export`, "trace.json")
 */
export function download(url: string, name: string): void {
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
}
