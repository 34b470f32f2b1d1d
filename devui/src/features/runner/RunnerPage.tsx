export function RunnerPage() {
  return <h1>RunnerPage</h1>
}
