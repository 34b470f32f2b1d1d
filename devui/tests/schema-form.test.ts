import { expect, describe as suite, test } from "vitest"
import { check, serverErrors, stillWrong } from "@/components/schema-form/check"
import { describe } from "@/components/schema-form/fields"
import { readJson, writeJson } from "@/components/schema-form/jsonText"
import { titleOf } from "@/components/schema-form/labels"
import { rootNode } from "@/components/schema-form/schema"
import { fits, initial, optionOf, setAt, withRequired } from "@/components/schema-form/values"

const address = {
  properties: {
    street: { title: "Street", type: "string" },
    city: { default: "Rome", title: "City", type: "string" },
  },
  required: ["street"],
  title: "Address",
  type: "object",
}
const cat = {
  properties: { kind: { const: "cat", type: "string" }, lives: { default: 9, type: "integer" } },
  required: ["kind"],
  title: "Cat",
  type: "object",
}
const dog = {
  properties: { kind: { const: "dog", type: "string" }, barks: { default: true, type: "boolean" } },
  required: ["kind"],
  title: "Dog",
  type: "object",
}
const order = {
  $schema: "http://json-schema.org/draft-07/schema#",
  definitions: { Address: address, Cat: cat, Dog: dog },
  properties: {
    name: { description: "Who", minLength: 2, title: "Name", type: "string" },
    size: { enum: ["s", "m", "l"], title: "Size", type: "string" },
    count: { maximum: 10, minimum: 1, title: "Count", type: "integer" },
    ratio: { anyOf: [{ type: "number" }, { type: "null" }], default: null, title: "Ratio" },
    day: { format: "date", title: "Day", type: "string" },
    tags: { default: [], items: { type: "string" }, title: "Tags", type: "array" },
    ship: { anyOf: [{ $ref: "#/definitions/Address" }, { type: "null" }], default: null },
    pet: {
      anyOf: [
        {
          discriminator: {
            mapping: { cat: "#/definitions/Cat", dog: "#/definitions/Dog" },
            propertyName: "kind",
          },
          oneOf: [{ $ref: "#/definitions/Cat" }, { $ref: "#/definitions/Dog" }],
        },
        { type: "null" },
      ],
      default: null,
      title: "Pet",
    },
    value: { anyOf: [{ type: "integer" }, { type: "string" }], default: 3, title: "Value" },
    extra: { additionalProperties: { type: "number" }, default: {}, title: "Extra", type: "object" },
    pair: {
      anyOf: [
        {
          maxItems: 2,
          minItems: 2,
          items: [{ type: "integer" }, { type: "string" }],
          additionalItems: true,
          type: "array",
        },
        { type: "null" },
      ],
      default: null,
      title: "Pair",
    },
    stops: { default: [], items: { $ref: "#/definitions/Address" }, title: "Stops", type: "array" },
    flag: { title: "Flag", type: "boolean" },
  },
  required: ["name", "size", "count", "day", "flag"],
  title: "Order",
  type: "object",
}
const node = rootNode(order)
const good = { name: "Ada", size: "m", count: 2, day: "2026-11-30", flag: true }

function property(key: string) {
  const field = describe(node)
  if (field.kind !== "object") throw new Error("not an object")
  const found = field.properties.find((one) => one.key === key)
  if (found === undefined) throw new Error(`no ${key}`)
  return describe(found.node)
}

suite("what a form shows", () => {
  test.each([
    ["name", "string", false],
    ["size", "choice", false],
    ["count", "number", false],
    ["ratio", "number", true],
    ["day", "string", false],
    ["tags", "array", false],
    ["ship", "object", true],
    ["pet", "union", true],
    ["value", "union", false],
    ["extra", "map", false],
    ["pair", "tuple", true],
    ["stops", "array", false],
    ["flag", "boolean", false],
  ])("%s is a %s", (key, kind, nullable) => {
    const field = property(key)
    expect([field.kind, field.nullable]).toEqual([kind, nullable])
  })

  test("labels are titles, and what a property is called where the title is that of its class", () => {
    expect(titleOf(property("ratio"), "ratio")).toBe("Ratio")
    expect(titleOf(property("ship"), "ship")).toBe("Ship")
    expect(titleOf(describe(rootNode({ type: "integer" })), "maxChunk_size")).toBe("Max Chunk size")
  })

  test("options of a union are called as their types, and know their tag", () => {
    const field = property("pet")
    if (field.kind !== "union") throw new Error(field.kind)
    expect(field.options.map(({ label, tag }) => [label, tag?.values])).toEqual([
      ["Cat", ["cat"]],
      ["Dog", ["dog"]],
    ])
  })

  test("the newer form of schemas is the same", () => {
    const pair = describe(
      rootNode({ type: "array", prefixItems: [{ type: "integer" }], minItems: 1, maxItems: 1 }),
    )
    expect(pair.kind === "tuple" && pair.rest).toBe(undefined)
    const ref = describe(rootNode({ $ref: "#/$defs/A", $defs: { A: address } }))
    expect(ref.kind).toBe("object")
  })

  test("what holds itself ends as JSON", () => {
    const tree = {
      $ref: "#/$defs/Tree",
      $defs: { Tree: { type: "object", properties: { left: { $ref: "#/$defs/Tree" } }, title: "Tree" } },
    }
    const kinds = []
    let at = describe(rootNode(tree))
    for (let depth = 0; depth < 9; depth++) {
      kinds.push(at.kind)
      if (at.kind !== "object") break
      const [left] = at.properties
      if (left === undefined) break
      at = describe(left.node)
    }
    expect(kinds).toEqual(["object", "object", "json"])
    expect(describe(rootNode({ $ref: "#/$defs/A", $defs: { A: { $ref: "#/$defs/A" } } })).kind).toBe("json")
  })

  test.each([
    [undefined],
    [true],
    [{}],
    [{ allOf: [{ type: "string" }, { minLength: 2 }] }],
    [{ $ref: "#/$defs/Gone" }],
    [{ type: "object" }],
    [{ type: "martian" }],
    [{ not: {} }],
  ])("%j is edited as JSON, never as nothing", (schema) => {
    expect(describe(rootNode(schema)).kind).toBe("json")
  })
})

suite("values", () => {
  test("an edit leaves all that it does not know", () => {
    const value = { pet: { kind: "cat", colour: "grey" }, more: [1], name: "x" }
    expect(setAt(value, ["pet", "lives"], 7)).toEqual({
      pet: { kind: "cat", colour: "grey", lives: 7 },
      more: [1],
      name: "x",
    })
    expect(setAt(value, ["name"], undefined)).toEqual({ pet: value.pet, more: [1] })
    expect(Object.keys(setAt(value, ["more"], 2) as object)).toEqual(["pet", "more", "name"])
    expect(value.name).toBe("x")
  })

  test("keys with a meaning of their own are keys", () => {
    const value = setAt({}, ["__proto__"], 1)
    expect(JSON.stringify(value)).toBe('{"__proto__":1}')
    expect(setAt({}, ["toString", "x"], 1)).toEqual({ toString: { x: 1 } })
  })

  test("a tuple has no holes", () => {
    expect(setAt(undefined, [1], "b")).toEqual([null, "b"])
    expect(setAt([1, "b"], [1], undefined)).toEqual([1])
  })

  test("what goes without saying is filled in, and nothing else", () => {
    const required = rootNode({
      ...order,
      required: ["flag", "tags", "home", "name"],
      properties: {
        ...order.properties,
        tags: { type: "array", items: {} },
        home: { $ref: "#/definitions/Address" },
      },
    })
    expect(withRequired(undefined, required)).toEqual({ tags: [], home: {}, flag: false })
    expect(withRequired(good, node)).toEqual(good)
    expect(withRequired({ ...good, pet: { kind: "cat" } }, node)).toEqual({ ...good, pet: { kind: "cat" } })
    expect(withRequired("text", node)).toBe("text")
  })

  test("an option is known by its tag, and else by its likeness", () => {
    const pet = property("pet")
    const value = property("value")
    if (pet.kind !== "union" || value.kind !== "union") throw new Error("no unions")
    expect(optionOf(pet, { kind: "dog", lives: 3 })).toBe(1)
    expect([optionOf(value, 3), optionOf(value, "x"), optionOf(value, 1.5), optionOf(value, {})]).toEqual([
      0, 1, -1, -1,
    ])
    const either = describe(
      rootNode({
        anyOf: [address, { ...cat, properties: { lives: { type: "integer" } }, required: ["lives"] }],
      }),
    )
    if (either.kind !== "union") throw new Error("no union")
    expect([optionOf(either, { street: "x" }), optionOf(either, { lives: 1 })]).toEqual([0, 1])
    expect(initial(pet.node)).toEqual({ kind: "cat" })
  })

  test("a value that no control can hold is seen", () => {
    expect(fits(property("tags"), "a,b")).toBe(false)
    expect(fits(property("size"), "xxl")).toBe(false)
    expect(fits(property("ratio"), null)).toBe(true)
  })
})

suite("what is wrong", () => {
  const wrong = (value: unknown) => check(value, node).map(({ path, message }) => [path.join("."), message])

  test("nothing, when all is right", () => {
    expect(wrong(good)).toEqual([])
    expect(
      wrong({ ...good, ratio: null, pair: [1, "x"], extra: { a: 1 }, stops: [{ street: "x" }], unknown: 1 }),
    ).toEqual([])
  })

  test("each place in its own words", () => {
    expect(
      wrong({
        name: "a",
        size: "q",
        count: 11,
        ratio: "x",
        day: "tomorrow",
        tags: [null],
        pair: [1],
        stops: [{}],
      }),
    ).toEqual([
      ["name", "At least 2 characters"],
      ["size", "One of: s, m, l"],
      ["count", "At most 10"],
      ["ratio", "A number is expected"],
      ["day", "This is no date"],
      ["tags.0", "Required"],
      ["pair.1", "Required"],
      ["stops.0.street", "Required"],
      ["flag", "Required"],
    ])
    expect(wrong({ ...good, pet: { kind: "cat", lives: 1.5 } })).toEqual([
      ["pet.lives", "A whole number is expected"],
    ])
    expect(wrong(undefined)).toEqual([["", "Required"]])
  })

  test("what a JSON field holds is judged as a whole", () => {
    const tree = { $defs: { T: { type: "object", properties: { v: { type: "integer" } }, required: ["v"] } } }
    const both = rootNode({ ...tree, allOf: [{ $ref: "#/$defs/T" }, { maxProperties: 1 }] })
    expect(check({ v: 1 }, both)).toEqual([])
    expect(check({ v: 1, w: 2 }, both)).toHaveLength(1)
    expect(check({ v: "x" }, both)).toHaveLength(1)
  })

  test("the server's locations are places of the form", () => {
    const value = { pet: { kind: "cat", lives: "k" }, value: [], stops: [{ city: 3 }] }
    const told = serverErrors(
      [
        { path: "pet.cat.lives", message: "not an integer" },
        { path: "value.int", message: "no int" },
        { path: "value.str", message: "no str" },
        { path: "stops.0.city", message: "no text" },
        { path: "pair.1", message: "Field required" },
        { path: "", message: "no" },
        { path: "function-after[check(), Order].name", message: "short" },
        { path: "nowhere.at.all", message: "?" },
      ],
      node,
      value,
    )
    expect(told.map(({ path, message }) => [path.join("."), message])).toEqual([
      ["pet.lives", "not an integer"],
      ["value", "no int; no str"],
      ["stops.0.city", "no text"],
      ["pair.1", "Field required"],
      ["", "no; ?"],
      ["name", "short"],
    ])
  })

  test("keys with dots are found", () => {
    const map = rootNode({
      type: "object",
      additionalProperties: { type: "object", additionalProperties: { type: "integer" } },
    })
    expect(serverErrors([{ path: "a.b.c", message: "x" }], map, { "a.b": { c: "?" } })[0]?.path).toEqual([
      "a.b",
      "c",
    ])
  })

  test("a corrected place is quiet, the others are not", () => {
    const told = [
      { path: ["name"], message: "taken" },
      { path: ["day"], message: "a holiday" },
    ]
    expect(stillWrong(told, good, { ...good, name: "Bob" }, node)).toEqual([
      { path: ["day"], message: "a holiday" },
    ])
    expect(stillWrong(told, good, { ...good, count: 0 }, node)).toHaveLength(3)
  })
})

suite("JSON as it is typed", () => {
  test.each([
    ['{"a": 1,}', 1, 9],
    ['{"a": 1\n "b": 2}', 2, 2],
    ["{'a': 1}", 1, 2],
    ["", 1, 1],
    ["[1, 2", 1, 6],
    ['{"a": tru}', 1, 7],
    ['"x\ny"', 1, 3],
    ['"\\x"', 1, 2],
    ["1 2", 1, 3],
    ['{"a"}', 1, 5],
    ["01", 1, 2],
    ['{\n  "text": "日本"\n  "more": 1\n}', 3, 3],
  ])("%j is wrong in line %d, column %d", (text, line, column) => {
    expect(readJson(text).problem).toMatchObject({ line, column })
  })

  test("what is right is read, and written as it was", () => {
    expect(readJson('{"a": [1.5e3, "\\u00e9", null]}')).toEqual({ value: { a: [1500, "é", null] } })
    expect(writeJson({ a: "日本" })).toBe('{\n  "a": "日本"\n}')
    expect(writeJson(undefined)).toBe("")
  })

  test("digits that would be lost are refused", () => {
    expect(readJson('{"id": 9007199254740993}').problem).toMatchObject({ line: 1, column: 8 })
    expect(readJson('{"id": "9007199254740993"}').problem).toBeUndefined()
  })
})
