/** Class names joined: `classes(styles.row, chosen && styles.selected)`. */
export function classes(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ")
}
