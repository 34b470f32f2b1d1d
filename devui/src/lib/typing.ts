/** The key is meant for a field, an editor, or what is open over the page: `if (isTyping(event.target)) return`. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.closest("input, textarea, select, [role=dialog], [role=menu]") !== null)
  )
}
