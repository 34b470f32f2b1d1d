export function StorePage() {
  return <h1>StorePage</h1>
}
