/** Schemas as a simulated model reads them: what it can follow, where references lead, and several rules as one. */

export type JsonSchema = Readonly<Record<string, unknown>>

/** A schema that no answer is known for; its message says why. */
export class SchemaUnsupported extends Error {}

export const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Rules that an answer could break, and that are not looked at. */
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

export const refuseUnknown = (node: JsonSchema): void => {
  for (const word of Object.keys(node)) {
    if (REFUSED.has(word)) throw new SchemaUnsupported(`the keyword "${word}" is not supported`)
  }
}

/** The subschema that `word` chose, with the rules that stand beside it. */
export const beside = (root: JsonSchema, node: JsonSchema, word: string, chosen: unknown): unknown => {
  const { [word]: _, ...rest } = node
  return Object.keys(rest).every((name) => ANNOTATIONS.has(name))
    ? chosen
    : merged(root, { ...rest, allOf: [...(Array.isArray(rest["allOf"]) ? rest["allOf"] : []), chosen] })
}

/** All parts of `allOf` as one schema; a rule that two parts give differently is refused, but for properties and their names. */
export const merged = (root: JsonSchema, node: JsonSchema): JsonSchema => {
  const { allOf, ...rest } = node
  const whole: Record<string, unknown> = {}
  for (const given of [rest, ...(allOf as ReadonlyArray<unknown>)]) {
    const part = isObject(given) && typeof given["$ref"] === "string" ? resolve(root, given["$ref"]) : given
    if (!isObject(part)) throw new SchemaUnsupported("a part of allOf must be an object")
    for (const [word, value] of Object.entries(part)) {
      const before = whole[word]
      if (word === "properties" && isObject(before) && isObject(value)) whole[word] = { ...before, ...value }
      else if (word === "required" && Array.isArray(before) && Array.isArray(value)) whole[word] = [...before, ...value]
      else if (before === undefined || ANNOTATIONS.has(word) || JSON.stringify(before) === JSON.stringify(value))
        whole[word] = value
      else throw new SchemaUnsupported(`"${word}" in two parts of allOf is not supported`)
    }
  }
  return whole
}

/** Where a reference within the schema leads. */
export const resolve = (root: JsonSchema, reference: string): unknown => {
  if (!reference.startsWith("#")) throw new SchemaUnsupported(`"$ref" outside the schema is not supported`)
  if (reference !== "#" && !reference.startsWith("#/")) throw new SchemaUnsupported(`"$anchor" is not supported`)
  let at: unknown = root
  for (const step of reference.slice(1).split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~")
    at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  if (at === undefined) throw new SchemaUnsupported(`the reference ${reference.slice(0, 80)} leads nowhere`)
  return at
}

/** A `null` ends recursion; otherwise the first alternative. */
export const simplest = (options: ReadonlyArray<unknown>): unknown =>
  options.find((option) => isObject(option) && option["type"] !== "null" && !("$ref" in option)) ??
  options.find((option) => isObject(option) && option["type"] === "null") ??
  options[0]

/** The type of what has to be drawn. */
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
