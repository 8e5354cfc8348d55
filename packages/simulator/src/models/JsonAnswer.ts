/**
 * Draws JSON that satisfies a schema, for `response_format: json_schema` and the arguments of tools. Knows the keywords
 * that structured output uses; refuses a schema with any other rule by name, instead of an answer that breaks the rule.
 */
import { pick, unit } from "./Draws.ts"
import { limit, numberOf, satisfies, textOf } from "./JsonScalars.ts"
import {
  mergeBeside,
  isObject,
  type JsonSchema,
  mergeAllOf,
  refuseUnknown,
  resolve,
  SchemaUnsupported,
  simplest,
  typeOf,
  Work
} from "./JsonSchemas.ts"

/**
 * Bounds of one answer: the depth of its values, the schemas that it visits, the items of an array. A schema beyond
 * them is refused.
 */
const MAX_DEPTH = 12
const MAX_NODES = 2_000
const MAX_ITEMS = 100

/** Returns a value of `schema`, drawn by `key`. Throws `SchemaUnsupported` with the reason. */
export const jsonAnswer = (schema: JsonSchema, key: number, text: string): unknown => {
  let drawn = 0
  const work = new Work(schema)
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? ["text"]
  const draw = (node: unknown, depth: number): unknown => {
    if (node === true) return {}
    if (!isObject(node)) throw new SchemaUnsupported({ message: "a subschema must be an object" })
    if (++drawn > MAX_NODES || depth > MAX_DEPTH)
      throw new SchemaUnsupported({ message: "it is too large, or refers to itself without end" })
    refuseUnknown(node, work)
    const { $ref: reference, allOf } = node
    if (typeof reference === "string") {
      return draw(mergeBeside(schema, node, "$ref", resolve(schema, reference, work), work), depth + 1)
    }
    if ("const" in node) return named(node, [node["const"]])
    if (Array.isArray(node["enum"])) return named(node, node["enum"])
    for (const word of ["anyOf", "oneOf"]) {
      const options = node[word]
      if (!Array.isArray(options)) continue
      return draw(mergeBeside(schema, node, word, simplest(options), work), depth + 1)
    }
    return Array.isArray(allOf) ? draw(mergeAllOf(schema, node, work), depth + 1) : ofType(node, depth)
  }
  const named = (node: JsonSchema, values: ReadonlyArray<unknown>): unknown => {
    const types = Array.isArray(node["type"]) ? node["type"].length : 1
    for (const value of values) work.spend(types + (typeof value === "string" ? value.length : 0))
    const fitting = values.filter((value) => satisfies(node, value))
    if (fitting.length === 0) throw new SchemaUnsupported({ message: "none of the values that it names fits it" })
    return pick(key, drawn, fitting)
  }
  const ofType = (node: JsonSchema, depth: number): unknown => {
    const type = typeOf(node)
    if (type === "object") return objectOf(node, depth)
    if (type === "array") return arrayOf(node, depth)
    if (type === "string") return textOf(node, words, key, drawn, work)
    if (type === "integer" || type === "number") return numberOf(node, type === "integer", key, drawn)
    if (type === "boolean") return unit(key, drawn) < 0.5
    if (type === "null") return null
    throw new SchemaUnsupported({ message: `the type ${JSON.stringify(type)} is not known` })
  }
  const objectOf = (node: JsonSchema, depth: number) => {
    const properties = isObject(node["properties"]) ? node["properties"] : {}
    const required = Array.isArray(node["required"]) ? node["required"].map(String) : []
    const requiredNames = new Set(required)
    const others = node["additionalProperties"] ?? true
    const names = new Set([...(depth < 3 ? Object.keys(properties) : []), ...required])
    const entries = [...names].flatMap((name) => {
      try {
        return [[name, draw(Object.hasOwn(properties, name) ? properties[name] : others, depth + 1)] as const]
      } catch (error) {
        // An optional property without end (the children of a tree) is left out.
        if (requiredNames.has(name) || drawn > MAX_NODES) throw error
        return []
      }
    })
    for (const [word, fits] of [
      ["minProperties", entries.length >= limit(node["minProperties"], 0, MAX_NODES)],
      ["maxProperties", entries.length <= limit(node["maxProperties"], MAX_NODES, MAX_NODES)]
    ] as const) {
      if (!fits) throw new SchemaUnsupported({ message: `"${word}" can't be met by the properties that it names` })
    }
    return Object.fromEntries(entries)
  }
  const arrayOf = (node: JsonSchema, depth: number) => {
    const { items, prefixItems } = node
    const first: ReadonlyArray<unknown> = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
    const [least, most] = [limit(node["minItems"], 0, MAX_ITEMS), limit(node["maxItems"], MAX_ITEMS, MAX_ITEMS)]
    if (least > MAX_ITEMS) throw new SchemaUnsupported({ message: `minItems is above ${MAX_ITEMS}` })
    if (least > most) throw new SchemaUnsupported({ message: "minItems is above maxItems" })
    const unique = node["uniqueItems"] === true
    if (unique && least > 1) throw new SchemaUnsupported({ message: '"uniqueItems" is supported for one item' })
    // Not drawn: a schema must not be supported or refused by chance.
    const usual = first.length > 0 ? first.length : depth < 3 ? (unique ? 1 : 2) : 0
    const length = Math.max(least, Math.min(most, usual))
    const rest = Array.isArray(items) ? node["additionalItems"] : items
    return Array.from({ length }, (_, at) => draw(first[at] ?? rest ?? { type: "string" }, depth + 1))
  }
  return draw(schema, 0)
}
