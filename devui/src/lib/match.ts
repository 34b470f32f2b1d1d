/**
 * How well a text fits what was typed: a higher number is better, undefined is not at all.
 *
 *     points("menuQA", "mq")   // all letters, in order
 */
export function points(text: string, typed: string): number | undefined {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  let sum = 0
  for (const word of words) {
    const one = fitWord(text, word)
    if (one === undefined) return undefined
    sum += one
  }
  return sum
}

function fitWord(text: string, word: string): number | undefined {
  const lower = text.toLowerCase()
  const at = lower.indexOf(word)
  if (at !== -1) {
    const start = at === 0 ? 40 : isStart(text, at) ? 25 : 10
    return start + (lower === word ? 40 : 0) + word.length / (1 + text.length / 20)
  }
  let place = 0
  let steps = 0
  for (const letter of word) {
    const found = lower.indexOf(letter, place)
    if (found === -1) return undefined
    if (found > place) steps += 1
    place = found + 1
  }
  // Letters that lie all over the text are no match that anybody has meant.
  return steps > 1 + word.length / 2 ? undefined : 5 - steps
}

function isStart(text: string, at: number): boolean {
  const before = text[at - 1] ?? ""
  const here = text[at] ?? ""
  return /[\s/_.:-]/.test(before) || (before === before.toLowerCase() && here !== here.toLowerCase())
}
