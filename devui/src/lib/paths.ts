/**
 * Addresses of pages, made of keys of actions.
 *
 *     runPath("/flow/menuQA")   // "/run/flow/menuQA"
 *     splitKey("/model/local/x") // { kind: "model", name: "local/x" }
 */
export function splitKey(key: string): { kind: string; name: string } {
  const [, kind = "", ...rest] = key.split("/")
  return { kind, name: rest.join("/") }
}

/** Name and kind may hold anything but are one address; slashes stay. */
export function runPath(key: string): string {
  const { kind, name } = splitKey(key)
  return `/run/${encodeURIComponent(kind)}/${name.split("/").map(encodeURIComponent).join("/")}`
}
