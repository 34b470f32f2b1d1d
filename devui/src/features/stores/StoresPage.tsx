export function StoresPage() {
  return <h1>StoresPage</h1>
}
