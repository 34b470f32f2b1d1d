import { describe, expect, it } from "vitest"
import { scaleOf, scoreText } from "@/features/retrieval/scale"
import { documentsOf, placeOf } from "@/lib/documents"
import { condition, joined, typedValue } from "@/lib/filterText"
import { excerpt, highlight } from "@/lib/highlight"
import { climb, moves, overlap } from "@/lib/ranks"
import { stem } from "@/lib/stem"

const marked = (text: string, query: string) =>
  highlight(text, query)
    .filter((segment) => segment.mark)
    .map((segment) => segment.text)

describe("highlighting", () => {
  it("marks other forms of a word and leaves the rest alone", () => {
    expect(marked("Indexing runs; an index ran, indices do not", "indexes")).toEqual(["Indexing", "index"])
    expect(marked("The soups are vegan", "Which soup is vegan?")).toEqual(["soups", "vegan"])
    expect(marked("Veganism", "vegan")).toEqual(["Veganism"])
    expect(marked("a cat concatenates", "cat")).toEqual(["cat"])
  })
  it("gives the text back whole", () => {
    const text = "Crème brûlée <b>costs</b> 7.50 👨‍👩‍👧 EUR"
    expect(
      highlight(text, "creme costs 7")
        .map((s) => s.text)
        .join(""),
    ).toBe(text)
    expect(marked(text, "creme brulee")).toEqual(["Crème", "brûlée"])
    expect(highlight("", "x")).toEqual([])
    expect(highlight("text", "")).toEqual([{ text: "text", mark: false }])
  })
  it("passes over words that say nothing, unless there are no others", () => {
    expect(marked("the menu of the day", "what is the menu")).toEqual(["menu"])
    expect(marked("to be or not to be", "to be")).toEqual(["to", "be", "to", "be"])
    expect(marked("Die Suppe ist vegan", "Ist die Suppe vegan?")).toEqual(["Suppe", "vegan"])
  })
  it("compares numbers whole", () => {
    expect(marked("4 40 2024", "4")).toEqual(["4"])
    expect(marked("costs 2024 or 20245", "2024")).toEqual(["2024"])
  })
  it("marks runs of Japanese, Chinese and Korean by pairs of characters", () => {
    expect(marked("東京タワーの営業時間は9時です", "営業時間を教えて")).toEqual(["営業時間"])
    expect(marked("素食汤很便宜", "素食")).toEqual(["素食"])
    expect(marked("これは寿司です", "あれは寿司です")).toEqual(["寿司"])
    expect(marked("김치찌개는 맵다", "김치찌개")).toEqual(["김치찌개"])
    expect(marked("Menü: 寿司 and soup", "寿司 soups")).toEqual(["寿司", "soup"])
    expect(marked("茶と水", "茶")).toEqual(["茶"])
  })
  it("cuts a long text around its first mark", () => {
    const text = `${"word ".repeat(100)}lasagne is served here ${"word ".repeat(100)}`
    const cut = excerpt(text, "lasagne", 80)
    expect(cut[0]?.text).toBe("… ")
    expect(cut.at(-1)?.text).toBe(" …")
    expect(cut.find((segment) => segment.mark)?.text).toBe("lasagne")
    expect(cut.map((s) => s.text).join("").length).toBeLessThan(90)
    expect(excerpt("short", "x", 80)).toEqual([{ text: "short", mark: false }])
  })
  it("stems as the server does", () => {
    const forms = {
      relational: "relat",
      indexes: "index",
      hopping: "hop",
      agreed: "agre",
      ponies: "poni",
      sky: "sky",
    }
    for (const [word, expected] of Object.entries(forms)) expect(stem(word)).toBe(expected)
  })
})

describe("ranks", () => {
  it("tell where each document was and is", () => {
    const found = moves(["a", "b", "c"], ["c", "a", "d"])
    expect(found).toEqual([
      { key: "c", before: 2, after: 0 },
      { key: "a", before: 0, after: 1 },
      { key: "d", before: undefined, after: 2 },
      { key: "b", before: 1, after: undefined },
    ])
    expect(found.map(climb)).toEqual([2, -1, undefined, undefined])
  })
  it("tell how far two lists agree", () => {
    expect(overlap(["a", "b", "c"], ["c", "a", "d"])).toEqual({
      both: 2,
      onlyLeft: 1,
      onlyRight: 1,
      jaccard: 0.5,
      meanShift: 1.5,
    })
    expect(overlap([], []).jaccard).toBe(1)
  })
})

describe("scales", () => {
  it("are stated, and bars are in proportion", () => {
    const fused = scaleOf([1, 0.5], "hybrid")
    expect(fused.label).toContain("reciprocal rank fusion")
    expect([fused.width(1), fused.width(0.5), fused.width(undefined)]).toEqual([1, 0.5, 0])
    const raw = scaleOf([12, 3], undefined)
    expect([raw.label, raw.width(12), raw.width(3)]).toEqual(["raw scores", 1, 0.25])
    const below = scaleOf([1, -1], undefined)
    expect([below.width(1), below.width(-1), below.width(0)]).toEqual([1, 0, 0.5])
    expect(scaleOf([0, 0], undefined).label).toBe("no scores")
  })
  it("write numbers that can be told apart", () => {
    expect([0.98387, 12.345, 123.4, 0.00123, 0, undefined].map(scoreText)).toEqual([
      "0.984",
      "12.35",
      "123.4",
      "0.00123",
      "0",
      "—",
    ])
  })
})

describe("documents", () => {
  it("are read also when little is told", () => {
    const [first, second] = documentsOf({
      documents: [
        {
          content: [{ text: "a" }, { media: { url: "x" } }, { text: "b" }],
          metadata: { source: "s", page: 2 },
          score: 0.5,
        },
        { content: [], id: "7" },
        "no document",
      ],
    })
    expect(first?.text).toBe("ab")
    expect(first?.score).toBe(0.5)
    expect(placeOf(first?.metadata ?? {})).toEqual({ source: "s", page: 2 })
    expect(second).toMatchObject({ key: "7", text: "", score: undefined })
    expect(documentsOf(null)).toEqual([])
  })
})

describe("filters", () => {
  it("are written with quotes where they are needed", () => {
    expect(condition("price", "<", 10)).toBe("price < 10")
    expect(condition("cuisine", "=", "chef's")).toBe("cuisine = 'chef''s'")
    expect(condition("my key", "!=", true)).toBe('"my key" != true')
    expect(condition("year", "IN", [1, "x"])).toBe("year IN (1, 'x')")
  })
  it("are joined so that an OR keeps its meaning, once each", () => {
    expect(joined("", "a = 1")).toBe("a = 1")
    expect(joined("a = 1", "b = 2")).toBe("a = 1 AND b = 2")
    expect(joined("a = 1 AND b = 2", "b = 2")).toBe("a = 1 AND b = 2")
    expect(joined("a = 1 OR b = 2", "c = 3")).toBe("(a = 1 OR b = 2) AND c = 3")
  })
  it("take values of the types that a key has had", () => {
    expect(typedValue("3", ["number"])).toBe(3)
    expect(typedValue("3", ["string"])).toBe("3")
    expect(typedValue("true", ["bool"])).toBe(true)
  })
})
