/**
 * A text as one word of a POSIX shell.
 *
 *     `flowkit flow:run ${shellQuote(name)} ${shellQuote(JSON.stringify(input))}`
 */
export function shellQuote(text: string): string {
  if (text !== "" && /^[\w@%+=:,./-]+$/.test(text)) return text
  return `'${text.replaceAll("'", `'"'"'`)}'`
}
