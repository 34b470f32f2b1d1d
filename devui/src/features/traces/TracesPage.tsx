export function TracesPage() {
  return <h1>TracesPage</h1>
}
