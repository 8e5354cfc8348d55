/** JSON answers satisfy their schema, and a schema that cannot be satisfied is refused by name. */
import { describe, expect, it } from "@effect/vitest"
import { jsonAnswer } from "@sluice/simulator/models/JsonAnswer"
import { SchemaUnsupported } from "@sluice/simulator/models/JsonSchemas"
import { Effect, Schema } from "effect"

const isEmpty = (value: unknown) => JSON.stringify(value) === "{}"
const hasA = (value: unknown) => JSON.stringify(value) === '{"a":1}'
const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : -1)

describe("jsonAnswer", () => {
  const leaf: Schema.Codec<object> = Schema.Union([
    Schema.Struct({ type: Schema.Literals(["string", "boolean", "null"]) }),
    Schema.Struct({
      type: Schema.Literal("integer"),
      minimum: Schema.Int.check(Schema.isBetween({ minimum: -50, maximum: 50 }))
    }),
    Schema.Struct({
      type: Schema.Literal("string"),
      maxLength: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))
    }),
    Schema.Struct({ enum: Schema.NonEmptyArray(Schema.String) })
  ])
  const tree: Schema.Codec<object> = Schema.Union([
    leaf,
    Schema.Struct({
      type: Schema.Literal("array"),
      items: leaf,
      minItems: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))
    }),
    Schema.Struct({
      type: Schema.Literal("object"),
      properties: Schema.Record(Schema.Literals(["a", "b", "c"]), leaf),
      required: Schema.Tuple([Schema.Literal("a"), Schema.Literal("c")])
    })
  ])

  it.effect.prop("satisfies its schema", [tree, Schema.Int], ([schema, key]) =>
    Effect.sync(() => {
      const value = JSON.parse(
        JSON.stringify(jsonAnswer(schema as Record<string, unknown>, key, "some words to use"))
      ) as unknown
      expect(violations(schema as JsonSchema, value)).toEqual([])
    })
  )

  it("satisfies the schemas that generators write", () => {
    const email = { type: "string", format: "email", pattern: "^(?!\\.)[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+$" }
    const cases: ReadonlyArray<readonly [Record<string, unknown>, (value: unknown) => boolean]> = [
      [email, (value) => value === "someone@example.com"],
      [{ type: "string", format: "of-our-own" }, (value) => typeof value === "string"],
      [{ type: "object", propertyNames: { type: "string" }, additionalProperties: email }, (value) => isEmpty(value)],
      [{ type: "array", items: { type: "integer" }, uniqueItems: true }, (value) => lengthOf(value) === 1],
      [
        { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], minItems: 2, maxItems: 2 },
        (value) => Array.isArray(value) && typeof value[0] === "string" && Number.isInteger(value[1])
      ],
      [{ type: "array", items: [{ type: "null" }] }, (value) => JSON.stringify(value) === "[null]"],
      [{ type: "integer", multipleOf: 7, minimum: 10, maximum: 30 }, (value) => [14, 21, 28].includes(Number(value))],
      [
        { type: "number", multipleOf: 0.01, minimum: 0.05, maximum: 20 },
        (value) => Number.isInteger(Number(value) / 0.01)
      ],
      [{ type: "integer", multipleOf: 0.5, minimum: 3, maximum: 4 }, (value) => value === 3 || value === 4],
      [{ type: "string", pattern: "^[A-Z]{2}-\\d{3}$" }, (value) => /^[A-Z]{2}-\d{3}$/.test(String(value))],
      [
        { type: "string", pattern: "^[a-z]+$", minLength: 9, maxLength: 9 },
        (value) => /^[a-z]{9}$/.test(String(value))
      ],
      [{ type: "number" }, Number.isInteger],
      [{ type: "number", exclusiveMinimum: 0.5 }, (value) => Number.isInteger(value) && Number(value) >= 1],
      [{ type: "integer", exclusiveMinimum: 1.7e18 }, (value) => Number(value) > 1.7e18],
      [{ type: "integer", exclusiveMinimum: -0.5, exclusiveMaximum: 1 }, (value) => value === 0],
      [
        { type: "number", exclusiveMinimum: 1e20, exclusiveMaximum: 1e21 },
        (value) => Number(value) > 1e20 && Number(value) < 1e21
      ],
      [{ type: "number", exclusiveMaximum: -1e20 }, (value) => Number(value) < -1e20],
      [
        { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1e-7 },
        (value) => Number(value) > 0 && Number(value) < 1e-7
      ],
      [{ enum: [1e20, 1.1e20], exclusiveMinimum: 1e20 }, (value) => value === 1.1e20],
      [{ type: "string", format: "uuid7" }, (value) => /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab]/.test(String(value))],
      [{ type: "string", format: "ipv4network" }, (value) => value === "192.0.2.0/24"],
      [{ type: "number", maximum: -0.1 }, (value) => Number.isInteger(value) && Number(value) <= -1],
      [{ type: "number", minimum: 0.2, maximum: 0.9 }, (value) => Number(value) >= 0.2 && Number(value) <= 0.9],
      [{ type: "integer", enum: ["a", 1] }, (value) => value === 1],
      [{ type: ["string", "null"], enum: [null] }, (value) => value === null],
      [{ $ref: "#/$defs/n", minimum: 3, $defs: { n: { type: "integer", maximum: 3 } } }, (value) => value === 3],
      [{ type: "object", required: ["a"], anyOf: [{ properties: { a: { const: 1 } } }] }, (value) => hasA(value)],
      [
        {
          type: "object",
          properties: { a: { const: 1 } },
          required: ["a"],
          unevaluatedProperties: false,
          minProperties: 1
        },
        (value) => hasA(value)
      ]
    ]
    for (const [schema, holds] of cases) {
      for (let key = 0; key < 50; key++) {
        const value = jsonAnswer(schema, key, "some words to use")
        expect([schema, value, holds(value)]).toEqual([schema, value, true])
      }
    }
  })

  it.each([
    ["#/$defs/B%20C", { $defs: { "B C": { const: 1 } } }],
    ["#/$defs/B C", { $defs: { "B C": { const: 1 } } }],
    ["#/$defs/Page%3CItem%3E", { $defs: { "Page<Item>": { const: 1 } } }],
    ["#/%24defs/%C3%A4", { $defs: { ä: { const: 1 } } }],
    ["#%2F$defs%2Fa", { $defs: { a: { const: 1 } } }],
    ["#/$defs/a~1b", { $defs: { "a/b": { const: 1 } } }],
    ["#/$defs/a~01b", { $defs: { "a~1b": { const: 1 } } }],
    ["#/$defs/a%252Fb", { $defs: { "a%2Fb": { const: 1 } } }],
    ["#/$defs/100%", { $defs: { "100%": { const: 1 } } }],
    ["#/$defs/a/anyOf/1", { $defs: { a: { anyOf: [{ const: 0 }, { const: 1 }] } } }]
  ])("the reference %s is followed as a percent-encoded JSON Pointer", ($ref, rest) => {
    expect(jsonAnswer({ $ref, ...rest }, 1, "text")).toBe(1)
    expect(jsonAnswer({ allOf: [{ title: "one" }, { $ref }], ...rest }, 1, "text")).toBe(1)
    expect(jsonAnswer({ required: ["a"], properties: { a: { $ref } }, ...rest }, 1, "text")).toEqual({ a: 1 })
  })

  it("refuses an unsupported rule by name, and ends on a recursive schema", () => {
    const refusal = (schema: Record<string, unknown>) => {
      try {
        return jsonAnswer(schema, 1, "text")
      } catch (error) {
        return error instanceof SchemaUnsupported ? error.message : error
      }
    }
    expect(refusal({ type: "string", pattern: "^(?!a)b$" })).toContain("pattern")
    expect(refusal({ enum: [] })).toContain("none of the values")
    expect(refusal({ type: "string", const: 5 })).toContain("none of the values")
    expect(refusal({ type: "string", enum: ["a"], minLength: 5 })).toContain("none of the values")
    expect(refusal({ type: "string", format: "uuid", minLength: 50 })).toContain("format")
    expect(refusal({ type: "array", minItems: 5_000 })).toContain("minItems is above 100")
    expect(refusal({ type: "array", minItems: 2, uniqueItems: true })).toContain("uniqueItems")
    expect(refusal({ type: "number", multipleOf: 0 })).toContain("multipleOf")
    expect(refusal({ type: "number", multipleOf: 0.3, minimum: 1, maximum: 1.1 })).toContain("bounds")
    expect(refusal({ type: "object", minProperties: 1 })).toContain("minProperties")
    expect(refusal({ $ref: "#anchor" })).toContain("$anchor")
    expect(refusal({ not: {} })).toContain('"not"')
    expect(refusal({ type: "integer", minimum: 3, maximum: 2 })).toContain("bounds")
    expect(refusal({ type: "object", properties: { a: { $ref: "#" } }, required: ["a"] })).toContain("without end")
    expect(refusal({ $ref: "#/$defs/none" })).toContain("leads nowhere")
    expect(refusal({ $ref: "#/enum/00", enum: [1] })).toContain("leads nowhere")
    expect(refusal({ $ref: "https://example.com/schema" })).toContain("outside")
    const list = {
      type: "object",
      required: ["next"],
      properties: { next: { anyOf: [{ $ref: "#" }, { type: "null" }] } }
    }
    expect(refusal(list)).toEqual({ next: null })
    expect(refusal({ allOf: [{ type: "object", properties: { a: { const: 1 } } }, { required: ["a"] }] })).toEqual({
      a: 1
    })
  })
})

describe("a schema from a caller", () => {
  const many = (count: number, one: (at: number) => unknown) => Array.from({ length: count }, (_, at) => one(at))
  const keys = (count: number) => Object.fromEntries(many(count, (at) => [`k${at}`, 1] as const) as never)
  const nested = (least: number, a: unknown) => ({
    $defs: { a },
    type: "array",
    minItems: 100,
    maxItems: 100,
    items: { type: "array", minItems: least, maxItems: least, items: { $ref: "#/$defs/a" } }
  })
  const long = "x".repeat(190_000)

  /**
   * Returns how many reads of the schema an answer takes. Proxies count them, so that the machine's speed does not
   * matter.
   */
  const countReads = (schema: unknown): number => {
    let count = 0
    const watched = (value: unknown): unknown =>
      typeof value !== "object" || value === null
        ? value
        : new Proxy(value, {
            get: (target, name, receiver) => (count++, watched(Reflect.get(target, name, receiver))),
            ownKeys: (target) => ((count += Reflect.ownKeys(target).length), Reflect.ownKeys(target))
          })
    try {
      jsonAnswer(watched(schema) as JsonSchema, 1, "text")
    } catch (error) {
      if (!(error instanceof SchemaUnsupported)) throw error
    }
    return count
  }

  it("takes a bounded number of reads, whatever it is", () => {
    for (const schema of [
      nested(19, { type: "string", ...keys(90_000) }),
      nested(19, { type: "string", ...keys(4_900) }),
      nested(19, { type: "string", enum: many(4_900, (at) => `v${at}`) }),
      nested(19, { type: many(2_400, () => "string"), enum: many(2_400, (at) => `v${at}`) }),
      nested(19, { enum: [long] }),
      nested(19, { $ref: `#/$defs/${long}` }),
      { allOf: many(8_000, (at) => ({ properties: { [`k${at}`]: true } })) },
      { allOf: many(1_600, (at) => ({ properties: { [`k${at}`]: true } })) },
      { allOf: many(2_000, (at) => ({ required: [`k${at}`] })) },
      { $defs: { a: { x: long } }, allOf: many(2_000, () => ({ $ref: "#/$defs/a" })) },
      { anyOf: many(4_900, () => ({ type: "null" })) }
    ]) {
      expect(countReads(schema), JSON.stringify(schema).slice(0, 80)).toBeLessThan(2_000_000)
    }
  })

  it("can have 300 properties", () => {
    const fields = Object.fromEntries(
      many(300, (at) => [`f${at}`, { type: "string", description: "a ".repeat(50) }]) as never
    )
    const schema = { type: "object", properties: fields, required: Object.keys(fields), additionalProperties: false }
    expect(Object.keys(jsonAnswer(schema, 1, "text") as object)).toHaveLength(300)
  })
})

interface JsonSchema {
  readonly [word: string]: unknown
}

/** A checker of its own for the keywords of the property test. */
const violations = (schema: JsonSchema, value: unknown): ReadonlyArray<string> => {
  if (Array.isArray(schema["enum"])) return schema["enum"].includes(value) ? [] : ["enum"]
  const type = schema["type"]
  if (type === "null") return value === null ? [] : ["null"]
  if (type === "boolean") return typeof value === "boolean" ? [] : ["boolean"]
  if (type === "string")
    return typeof value === "string" && value.length <= Number(schema["maxLength"] ?? Infinity) ? [] : ["string"]
  if (type === "integer")
    return Number.isInteger(value) && Number(value) >= Number(schema["minimum"]) ? [] : ["integer"]
  if (type === "array") {
    if (!Array.isArray(value) || value.length < Number(schema["minItems"])) return ["array"]
    return value.flatMap((item) => violations(schema["items"] as JsonSchema, item))
  }
  if (typeof value !== "object" || value === null) return ["object"]
  const properties = schema["properties"] as Readonly<Record<string, JsonSchema>>
  const missing = (schema["required"] as ReadonlyArray<string>).filter((name) => !(name in value))
  return [
    ...missing,
    ...Object.entries(value).flatMap(([name, item]) => (name in properties ? violations(properties[name]!, item) : []))
  ]
}
