/**
 * Which parts of a text have words of a query: other forms of a word count, accents and case do not matter, and
 * scripts without spaces are compared by pairs of characters.
 *
 *     highlight("Two vegan soups", "vegan soup")  // [{text: "Two ", …}, {text: "vegan", mark: true}, …]
 */
import { stem } from "./stem"

export type Segment = { text: string; mark: boolean }

// Scripts that are written without spaces between words; a run of them is no word.
const RUN = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}ー々"
const PIECE = new RegExp(`(?<run>[${RUN}]+)|(?:(?![${RUN}])[\\p{L}\\p{N}\\p{M}])+`, "gu")
// What a word of such a script ends with, and what belongs to the word before it.
const HIRAGANA = /\p{Script=Hiragana}/u
const PARTICLE = /[はがをにのでともへや]/
const KANA_ONLY = /^[\p{Script=Hiragana}ー]+$/u

// Left out of a query when something else remains.
const STOP = new Set(
  (
    "a about all also am an and any are as at be because been but by can could did do does for from had has have he " +
    "her him his how i if in into is it its just may me my no nor not of off on or our out she so some such than " +
    "that the their them then there these they this those to too under up was we were what when where which while " +
    "who whom whose why will with would you your der die das den dem des ein eine einen einem einer und oder ist " +
    "sind war wie was wer wo mit von zu zum zur im am für auf nicht le la les un une des du de et est en que qui"
  ).split(" "),
)
const SHORTEST_PREFIX = 4

type Terms = { stems: Set<string>; words: string[]; pairs: Set<string>; singles: Set<string> }

/** A word as it is compared: lower case, without accents. */
function folded(word: string): string {
  return word
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss")
}

function termsOf(query: string): Terms {
  const terms: Terms = { stems: new Set(), words: [], pairs: new Set(), singles: new Set() }
  const words: string[] = []
  for (const match of query.matchAll(PIECE)) {
    const run = match.groups?.run
    if (run === undefined) {
      words.push(folded(match[0]))
      continue
    }
    const characters = [...run.toLowerCase()]
    if (characters.length === 1 && !KANA_ONLY.test(run)) terms.singles.add(run)
    for (const pair of pairsOf(characters)) if (!KANA_ONLY.test(pair)) terms.pairs.add(pair)
  }
  const telling = words.filter((word) => !STOP.has(word))
  for (const word of telling.length > 0 || terms.pairs.size > 0 ? telling : words) {
    terms.stems.add(stem(word))
    if (word.length >= SHORTEST_PREFIX && !/^\d+$/.test(word)) terms.words.push(word)
  }
  return terms
}

function pairsOf(characters: readonly string[]): string[] {
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`)
}

function matches(word: string, terms: Terms): boolean {
  const own = folded(word)
  if (terms.stems.has(stem(own))) return true
  return terms.words.some(
    (term) =>
      own.startsWith(term) || (own.length >= SHORTEST_PREFIX && term.startsWith(own) && !STOP.has(own)),
  )
}

/** The text in pieces, in order; together they are the text. */
export function highlight(text: string, query: string): Segment[] {
  const terms = termsOf(query)
  if (terms.stems.size === 0 && terms.pairs.size === 0 && terms.singles.size === 0) {
    return text === "" ? [] : [{ text, mark: false }]
  }
  const found: [number, number][] = []
  for (const match of text.matchAll(PIECE)) {
    const run = match.groups?.run
    if (run !== undefined) found.push(...marksInRun(run, match.index, terms))
    else if (matches(match[0], terms)) found.push([match.index, match.index + match[0].length])
  }
  return segments(text, found)
}

function marksInRun(run: string, offset: number, terms: Terms): [number, number][] {
  const characters = [...run]
  const marked = characters.map((character) => terms.singles.has(character))
  pairsOf(characters.map((character) => character.toLowerCase())).forEach((pair, at) => {
    if (!terms.pairs.has(pair)) return
    if (!HIRAGANA.test(characters[at] ?? "")) marked[at] = true
    if (!PARTICLE.test(characters[at + 1] ?? "")) marked[at + 1] = true
  })
  const found: [number, number][] = []
  let at = offset
  characters.forEach((character, number) => {
    const last = found.at(-1)
    if (marked[number] && last?.[1] === at && number > 0) last[1] = at + character.length
    else if (marked[number]) found.push([at, at + character.length])
    at += character.length
  })
  return found
}

function segments(text: string, marks: readonly [number, number][]): Segment[] {
  const found: Segment[] = []
  let at = 0
  for (const [start, end] of marks) {
    if (start > at) found.push({ text: text.slice(at, start), mark: false })
    found.push({ text: text.slice(start, end), mark: true })
    at = end
  }
  if (at < text.length) found.push({ text: text.slice(at), mark: false })
  return found
}

/** The part of a long text around its first marks: about `length` characters, cut at spaces, with `…` where it is cut. */
export function excerpt(text: string, query: string, length: number): Segment[] {
  if (text.length <= length) return highlight(text, query)
  const all = highlight(text, query)
  let first = 0
  for (const segment of all) {
    if (segment.mark) break
    first += segment.text.length
  }
  const noMark = first >= text.length
  let start = noMark || first < length * 0.6 ? 0 : Math.max(0, first - Math.floor(length / 4))
  if (start > 0) {
    const space = text.indexOf(" ", start)
    if (space >= 0 && space < start + 20) start = space + 1
  }
  let end = Math.min(text.length, start + length)
  const space = text.lastIndexOf(" ", end)
  if (end < text.length && space > end - 20 && space > start) end = space
  const cut = highlight(text.slice(start, end), query)
  if (start > 0) cut.unshift({ text: "… ", mark: false })
  if (end < text.length) cut.push({ text: " …", mark: false })
  return cut
}
