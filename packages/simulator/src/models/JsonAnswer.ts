/**
 * JSON that satisfies a schema, for `response_format: json_schema`. Knows the keywords that structured output uses; a schema
 * with any other rule is refused by name rather than answered wrongly.
 */
import { between, pick, unit } from "./Draws.ts"

type JsonSchema = Readonly<Record<string, unknown>>

/** How deep values nest, and how many schemas one answer visits, before it is refused. */
const MAX_DEPTH = 12
const MAX_NODES = 2_000
const MAX_TEXT = 10_000
const MAX_ITEMS = 100

export class SchemaUnsupported extends Error {}

/** A value of `schema`, drawn by `key`; throws `SchemaUnsupported` with the reason. */
export const jsonAnswer = (schema: JsonSchema, key: number, text: string): unknown => {
  let drawn = 0
  const draw = (node: unknown, depth: number): unknown => {
    if (node === true) return {}
    if (!isObject(node)) throw new SchemaUnsupported("a subschema must be an object")
    if (++drawn > MAX_NODES || depth > MAX_DEPTH)
      throw new SchemaUnsupported("it is too large, or refers to itself without end")
    for (const word of Object.keys(node)) {
      if (REFUSED.has(word)) throw new SchemaUnsupported(`the keyword "${word}" is not supported`)
    }
    if (typeof node["$ref"] === "string") return draw(resolve(schema, alone(node, "$ref") as string), depth + 1)
    if ("const" in node) return node["const"]
    if (Array.isArray(node["enum"]) && node["enum"].length > 0) return pick(key, drawn, node["enum"])
    const choice = ["anyOf", "oneOf"].find((word) => Array.isArray(node[word]))
    if (choice !== undefined) return draw(simplest(alone(node, choice) as ReadonlyArray<unknown>), depth + 1)
    if (Array.isArray(node["allOf"])) return draw(merged(schema, node), depth + 1)
    return ofType(node, depth)
  }
  const ofType = (node: JsonSchema, depth: number): unknown => {
    const declared = node["type"]
    const type = Array.isArray(declared)
      ? (declared.find((one) => one !== "null") ?? "null")
      : (declared ?? guess(node))
    if (type === "object") return objectOf(node, depth)
    if (type === "array") return arrayOf(node, depth)
    if (type === "string") return textOf(node, text, key, drawn)
    if (type === "integer" || type === "number") return numberOf(node, type === "integer", key, drawn)
    if (type === "boolean") return unit(key, drawn) < 0.5
    if (type === "null") return null
    throw new SchemaUnsupported(`the type ${JSON.stringify(type)} is not known`)
  }
  const objectOf = (node: JsonSchema, depth: number) => {
    const properties = isObject(node["properties"]) ? node["properties"] : {}
    const required = Array.isArray(node["required"]) ? node["required"].map(String) : []
    const others = node["additionalProperties"] ?? true
    const names = new Set([...(depth < 3 ? Object.keys(properties) : []), ...required])
    const entries = [...names].map((name) => {
      try {
        return [[name, draw(Object.hasOwn(properties, name) ? properties[name] : others, depth + 1)]]
      } catch (error) {
        // What is optional and endless (a tree's children) is left out.
        if (required.includes(name) || drawn > MAX_NODES) throw error
        return []
      }
    })
    return Object.fromEntries(entries.flat())
  }
  const arrayOf = (node: JsonSchema, depth: number) => {
    const [least, most] = [limit(node["minItems"], 0, MAX_ITEMS), limit(node["maxItems"], MAX_ITEMS, MAX_ITEMS)]
    if (least > most) throw new SchemaUnsupported("minItems is above maxItems")
    // Not drawn: whether a schema can be served must not depend on chance.
    const length = Math.max(least, Math.min(most, depth < 3 ? 2 : 0))
    return Array.from({ length }, () => draw(node["items"] ?? { type: "string" }, depth + 1))
  }
  return draw(schema, 0)
}

const REFUSED = new Set([
  "pattern",
  "not",
  "if",
  "then",
  "else",
  "multipleOf",
  "uniqueItems",
  "contains",
  "minContains",
  "maxContains",
  "prefixItems",
  "patternProperties",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "unevaluatedProperties",
  "unevaluatedItems",
  "$dynamicRef",
  "$recursiveRef"
])

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const guess = (node: JsonSchema): string =>
  "properties" in node || "required" in node
    ? "object"
    : "items" in node
      ? "array"
      : "minimum" in node || "maximum" in node
        ? "number"
        : "string"

/** A `null` ends recursion; otherwise the first alternative. */
const simplest = (options: ReadonlyArray<unknown>): unknown =>
  options.find((option) => isObject(option) && option["type"] !== "null" && !("$ref" in option)) ??
  options.find((option) => isObject(option) && option["type"] === "null") ??
  options[0]

const resolve = (root: JsonSchema, reference: string): unknown => {
  if (!reference.startsWith("#")) throw new SchemaUnsupported(`"$ref" outside the schema is not supported`)
  let at: unknown = root
  for (const step of reference.slice(1).split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~")
    at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  if (at === undefined) throw new SchemaUnsupported(`the reference ${reference.slice(0, 80)} leads nowhere`)
  return at
}

const ANNOTATIONS = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "$defs",
  "definitions",
  "$schema",
  "$id",
  "$comment"
])

/** The value of a keyword that decides alone: rules beside it would have to hold too. */
const alone = (node: JsonSchema, word: string): unknown => {
  const other = Object.keys(node).find((name) => name !== word && !ANNOTATIONS.has(name))
  if (other !== undefined) throw new SchemaUnsupported(`"${other}" beside "${word}" is not supported`)
  return node[word]
}

/** All parts of `allOf` as one schema; a rule that two parts give is refused, but for properties and their names. */
const merged = (root: JsonSchema, node: JsonSchema): JsonSchema => {
  const { allOf, ...rest } = node
  const whole: Record<string, unknown> = {}
  for (const given of [rest, ...(allOf as ReadonlyArray<unknown>)]) {
    const part = isObject(given) && typeof given["$ref"] === "string" ? resolve(root, given["$ref"]) : given
    if (!isObject(part)) throw new SchemaUnsupported("a part of allOf must be an object")
    for (const [word, value] of Object.entries(part)) {
      const before = whole[word]
      if (word === "properties" && isObject(before) && isObject(value)) whole[word] = { ...before, ...value }
      else if (word === "required" && Array.isArray(before) && Array.isArray(value)) whole[word] = [...before, ...value]
      else if (before === undefined || ANNOTATIONS.has(word) || before === value) whole[word] = value
      else throw new SchemaUnsupported(`"${word}" in two parts of allOf is not supported`)
    }
  }
  return whole
}

const limit = (value: unknown, fallback: number, most: number): number =>
  typeof value === "number" && value >= 0 ? Math.min(Math.ceil(value), most + 1) : fallback

const textOf = (node: JsonSchema, text: string, key: number, n: number): string => {
  const format = node["format"]
  if (typeof format === "string") {
    const known = FORMATS[format]
    if (known === undefined) throw new SchemaUnsupported(`the format "${format.slice(0, 40)}" is not supported`)
    return known
  }
  const [least, most] = [limit(node["minLength"], 0, MAX_TEXT), limit(node["maxLength"], MAX_TEXT, MAX_TEXT)]
  if (least > most || least > MAX_TEXT) throw new SchemaUnsupported("minLength can't be met")
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? ["text"]
  const start = between(key, n, 0, words.length - 1)
  const phrase = [...words.slice(start, start + between(key, n + 7_000, 1, 5)).join(" ")].slice(0, most)
  return phrase.join("").padEnd(least + phrase.join("").length - phrase.length, ".")
}

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T12:00:00Z",
  date: "2026-01-01",
  time: "12:00:00Z",
  duration: "PT1H",
  email: "someone@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000"
}

const numberOf = (node: JsonSchema, whole: boolean, key: number, n: number): number => {
  const bound = (word: string) => (typeof node[word] === "number" ? node[word] : undefined)
  const step = whole ? 1 : 1e-6
  const above = bound("exclusiveMinimum")
  const below = bound("exclusiveMaximum")
  const given = Math.max(bound("minimum") ?? -Infinity, above === undefined ? -Infinity : above + step)
  const top = Math.min(bound("maximum") ?? Infinity, below === undefined ? Infinity : below - step)
  const low = given === -Infinity ? (top === Infinity ? 0 : Math.min(0, top - 1)) : given
  const high = Math.max(low, Math.min(top, low + 100))
  const drawn = low + unit(key, n) * (high - low)
  const value = whole ? Math.min(Math.max(Math.round(drawn), Math.ceil(low)), Math.floor(high)) : drawn
  if (value < given || value > top || (whole && !Number.isInteger(value)))
    throw new SchemaUnsupported("no number fits its bounds")
  return value
}
