export function TracePage() {
  return <h1>TracePage</h1>
}
