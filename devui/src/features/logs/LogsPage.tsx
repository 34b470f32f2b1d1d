export function LogsPage() {
  return <h1>LogsPage</h1>
}
