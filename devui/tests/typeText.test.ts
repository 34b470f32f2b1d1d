import { expect, test } from "vitest"
import { properties, typeText } from "@/lib/typeText"

test.each([
  [{ type: "string" }, "str"],
  [{ type: "array", items: { $ref: "#/$defs/Dish" } }, "list[Dish]"],
  [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "int | None"],
  [{ type: ["string", "null"] }, "str | None"],
  [{ enum: ["a", "b"] }, '"a" | "b"'],
  [{ enum: ["a", "b", "c", "d", "e"] }, '"a" | "b" | "c" | "d" | …'],
  [{ type: "object", title: "Order", properties: {} }, "Order"],
  [{ type: "object", additionalProperties: { type: "number" } }, "dict[str, float]"],
  [{ type: "string", format: "date-time" }, "datetime"],
  [{}, "any"],
  [null, "any"],
])("%j is %s", (schema, text) => expect(typeText(schema)).toBe(text))

const order = {
  type: "object",
  required: ["guest"],
  properties: {
    guest: { type: "string", description: "Who.", minLength: 1 },
    dishes: { type: "array", items: { $ref: "#/$defs/Dish" } },
    address: { anyOf: [{ $ref: "#/$defs/Address" }, { type: "null" }] },
  },
  $defs: {
    Dish: { type: "object", properties: { price: { type: "number", maximum: 9, default: 2 } } },
    Address: { type: "object", properties: { next: { $ref: "#/$defs/Address" } } },
  },
}

test("fields are listed with those within them, and a schema that holds itself ends", () => {
  expect(properties(order).map((one) => one.path)).toEqual([
    ".guest",
    ".dishes",
    ".dishes.price",
    ".address",
    ".address.next",
  ])
})

test("a field says whether it is needed and what it may be", () => {
  const [guest, , price] = properties(order)
  expect(guest).toMatchObject({ required: true, about: "Who.", limits: "length ≥ 1" })
  expect(price).toMatchObject({ required: false, type: "float", limits: "≤ 9, default 2" })
})

test("what has no fields has none", () => {
  expect(properties({ type: "string" })).toEqual([])
  expect(properties(undefined)).toEqual([])
})
