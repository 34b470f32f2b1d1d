/**
 * The server's English stemmer (Porter, 1980), so that what its keyword search matches is what is highlighted.
 *
 *     stem("indexes") === stem("indexing")
 */
const C = "(?:[^aeiouy]|^y|(?<=[aeiou])y)"
const V = "(?:[aeiou]|(?<=[^aeiou])y)"
const SOME = new RegExp(`^${C}*${V}+${C}`)
const MORE = new RegExp(`^${C}*${V}+${C}+${V}+${C}`)
const ONE = new RegExp(`^${C}*${V}+${C}+${V}*$`)
const VOWEL = new RegExp(V)
const SHORT = new RegExp(`^${C}+${V}[^aeiouwxy]$`)
const DOUBLE = /([^aeiouylsz])\1$/

// biome-ignore format: a table
const STEP2: Record<string, string> = {
  ational: "ate", tional: "tion", enci: "ence", anci: "ance", izer: "ize", bli: "ble", alli: "al", entli: "ent",
  eli: "e", ousli: "ous", ization: "ize", ation: "ate", ator: "ate", alism: "al", iveness: "ive", fulness: "ful",
  ousness: "ous", aliti: "al", iviti: "ive", biliti: "ble", logi: "log",
}
// biome-ignore format: a table
const STEP3: Record<string, string> = { icate: "ic", ative: "", alize: "al", iciti: "ic", ical: "ic", ful: "", ness: "" }
// biome-ignore format: a table
const STEP4 = [
  "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate", "iti", "ous",
  "ive", "ize", "sion", "tion",
]
const suffix = (rules: string[]) => new RegExp(`(?:${rules.join("|")})$`)
const SUFFIX2 = suffix(Object.keys(STEP2))
const SUFFIX3 = suffix(Object.keys(STEP3))
const SUFFIX4 = suffix(STEP4)

/** The stem of a lower-case word; what is not plain ASCII letters stays as it is. */
export function stem(given: string): string {
  if (given.length < 3 || !/^[a-z]+$/.test(given)) return given
  let word = pluralAndPast(given)
  if (word.endsWith("y") && VOWEL.test(word.slice(0, -1))) word = `${word.slice(0, -1)}i`
  for (const [pattern, rules] of [[SUFFIX2, STEP2] as const, [SUFFIX3, STEP3] as const]) {
    const found = pattern.exec(word)
    if (found && SOME.test(word.slice(0, found.index)))
      word = word.slice(0, found.index) + (rules[found[0]] ?? "")
  }
  const found = SUFFIX4.exec(word)
  if (found) {
    // Of "-sion" and "-tion" only "ion" goes.
    const cut = found.index + (found[0] === "sion" || found[0] === "tion" ? 1 : 0)
    if (MORE.test(word.slice(0, cut))) word = word.slice(0, cut)
  }
  if (word.endsWith("e")) {
    const base = word.slice(0, -1)
    if (MORE.test(base) || (ONE.test(base) && !SHORT.test(base))) word = base
  }
  return word.endsWith("ll") && MORE.test(word) ? word.slice(0, -1) : word
}

function pluralAndPast(given: string): string {
  let word = given
  if (word.endsWith("sses") || word.endsWith("ies")) word = word.slice(0, -2)
  else if (word.endsWith("s") && word.at(-2) !== "s") word = word.slice(0, -1)
  if (word.endsWith("eed")) return SOME.test(word.slice(0, -3)) ? word.slice(0, -1) : word
  for (const ending of ["ed", "ing"]) {
    const base = word.slice(0, -ending.length)
    if (!word.endsWith(ending) || !VOWEL.test(base)) continue
    if (/(?:at|bl|iz)$/.test(base) || (SHORT.test(base) && ONE.test(base))) return `${base}e`
    return DOUBLE.test(base) ? base.slice(0, -1) : base
  }
  return word
}
