export function ActionsPage() {
  return <h1>ActionsPage</h1>
}
