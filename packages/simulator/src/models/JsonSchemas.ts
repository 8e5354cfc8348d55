/**
 * Reads the schemas that a simulated model follows: checks their keywords, resolves references, and merges several
 * rules into one schema.
 */
import { Schema } from "effect"

export type JsonSchema = Readonly<Record<string, unknown>>

/** A schema for which no answer is known. The message says why. */
export class SchemaUnsupported extends Schema.TaggedError<SchemaUnsupported>()("SchemaUnsupported", {
  message: Schema.String
}) {}

/** Bounds of a schema: its values and its characters. */
const MAX_VALUES = 5_000
const MAX_CHARACTERS = 200_000
/** Words of schemas that are read for one answer. This many take some milliseconds, whatever the schema is. */
const MAX_WORK = 200_000

/** The work that is left for an answer. Schemas come from callers, and following one blocks all other requests. */
export class Work {
  private left = MAX_WORK

  constructor(schema: unknown) {
    let values = 0
    let characters = 0
    const open: Array<unknown> = [schema]
    while (open.length > 0) {
      const value = open.pop()
      values++
      if (typeof value === "string") characters += value.length
      else if (Array.isArray(value)) for (const one of value) open.push(one)
      else if (isObject(value)) {
        for (const name in value) {
          characters += name.length
          open.push(value[name])
        }
      }
      if (values + open.length > MAX_VALUES || characters > MAX_CHARACTERS) {
        throw new SchemaUnsupported({
          message: `it has more than ${MAX_VALUES} values or ${MAX_CHARACTERS} characters`
        })
      }
    }
  }

  spend(units: number): void {
    this.left -= units
    if (this.left < 0) throw new SchemaUnsupported({ message: "it is too large, or refers to itself without end" })
  }
}

export const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Rules that an answer could break, since it does not follow them. */
const REFUSED = new Set([
  "not",
  "if",
  "then",
  "else",
  "contains",
  "minContains",
  "maxContains",
  "patternProperties",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "$dynamicRef",
  "$recursiveRef"
])

const ANNOTATIONS = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$defs",
  "definitions",
  "$schema",
  "$id",
  "$comment"
])

export const refuseUnknown = (node: JsonSchema, work: Work): void => {
  for (const [word, value] of Object.entries(node)) {
    work.spend(1 + sizeOf(value))
    if (REFUSED.has(word)) throw new SchemaUnsupported({ message: `the keyword "${word}" is not supported` })
  }
}

/** Returns the subschema that `word` selected, merged with the rules beside it. */
export const mergeBeside = (root: JsonSchema, node: JsonSchema, word: string, chosen: unknown, work: Work): unknown => {
  const { [word]: _, ...rest } = node
  return Object.keys(rest).every((name) => ANNOTATIONS.has(name))
    ? chosen
    : mergeAllOf(root, { ...rest, allOf: [...(Array.isArray(rest["allOf"]) ? rest["allOf"] : []), chosen] }, work)
}

/**
 * Returns all parts of `allOf` as one schema. Refuses a rule that two parts give differently, except properties and
 * their names.
 */
export const mergeAllOf = (root: JsonSchema, node: JsonSchema, work: Work): JsonSchema => {
  const { allOf, ...rest } = node
  const whole: Record<string, unknown> = {}
  for (const given of [rest, ...(allOf as ReadonlyArray<unknown>)]) {
    const part = isObject(given) && typeof given["$ref"] === "string" ? resolve(root, given["$ref"], work) : given
    if (!isObject(part)) throw new SchemaUnsupported({ message: "a part of allOf must be an object" })
    for (const [word, value] of Object.entries(part)) {
      const before = whole[word]
      work.spend(1 + sizeOf(before) + sizeOf(value))
      if (word === "properties" && isObject(before) && isObject(value)) whole[word] = { ...before, ...value }
      else if (word === "required" && Array.isArray(before) && Array.isArray(value)) whole[word] = [...before, ...value]
      else if (before === undefined || ANNOTATIONS.has(word) || isSame(before, value, work)) whole[word] = value
      else throw new SchemaUnsupported({ message: `"${word}" in two parts of allOf is not supported` })
    }
  }
  return whole
}

/** Returns the number of values directly within a value. */
const sizeOf = (value: unknown): number =>
  Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0

const isSame = (one: unknown, other: unknown, work: Work): boolean => {
  if (one === other) return true
  const text = JSON.stringify(one)
  work.spend(text.length)
  return text === JSON.stringify(other)
}

/** Returns the subschema to which a reference within the schema leads. */
export const resolve = (root: JsonSchema, reference: string, work: Work): unknown => {
  work.spend(reference.length)
  if (!reference.startsWith("#")) throw new SchemaUnsupported({ message: `"$ref" outside the schema is not supported` })
  const pointer = percentDecoded(reference.slice(1))
  if (pointer !== "" && !pointer.startsWith("/")) throw new SchemaUnsupported({ message: `"$anchor" is not supported` })
  let at: unknown = root
  for (const step of pointer.split("/").slice(1)) at = inner(at, step.replaceAll("~1", "/").replaceAll("~0", "~"))
  if (at === undefined)
    throw new SchemaUnsupported({ message: `the reference ${reference.slice(0, 80)} leads nowhere` })
  return at
}

/** Decodes a fragment. Invalid percent-encoding stays as it is, because some generators do not encode. */
const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const ARRAY_INDEX = /^(0|[1-9]\d*)$/

const inner = (value: unknown, name: string): unknown => {
  if (Array.isArray(value)) return ARRAY_INDEX.test(name) ? value[Number(name)] : undefined
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/**
 * Returns the first alternative that is no reference and not `null`; else a `null`, which ends recursion; else the
 * first one.
 */
export const simplest = (options: ReadonlyArray<unknown>): unknown =>
  options.find((option) => isObject(option) && option["type"] !== "null" && !("$ref" in option)) ??
  options.find((option) => isObject(option) && option["type"] === "null") ??
  options[0]

/** Returns the type of the value to draw. */
export const typeOf = (node: JsonSchema): unknown => {
  const declared = node["type"]
  if (Array.isArray(declared)) return declared.find((one) => one !== "null") ?? "null"
  return declared ?? guess(node)
}

const guess = (node: JsonSchema): string => {
  const has = (...words: ReadonlyArray<string>) => words.some((word) => word in node)
  if (has("properties", "required", "additionalProperties", "propertyNames")) return "object"
  if (has("items", "prefixItems", "minItems", "uniqueItems")) return "array"
  return has("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum") ? "number" : "string"
}
