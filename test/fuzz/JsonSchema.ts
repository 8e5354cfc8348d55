/** The part of JSON Schema that the contract uses: generates values that fit a schema, and checks answers against it. */
import type { Chance } from "./Chance.ts"

export interface Schema {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly oneOf?: ReadonlyArray<Schema>
  readonly not?: Schema
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly type?: string | ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema | false
  readonly prefixItems?: ReadonlyArray<Schema>
  readonly minItems?: number
  readonly maxItems?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
}
export type Schemas = Readonly<Record<string, Schema>>

const KNOWN = new Set([
  ..."$ref anyOf allOf oneOf not enum const type properties required".split(" "),
  ..."additionalProperties items prefixItems minItems maxItems minimum maximum exclusiveMinimum".split(" "),
  ..."minLength maxLength pattern format description title default examples contentEncoding".split(" "),
  ..."contentMediaType contentSchema uniqueItems propertyNames maxProperties $comment".split(" ")
])

const resolved = (schema: Schema, all: Schemas): Schema => {
  const strange = Object.keys(schema).filter((keyword) => !KNOWN.has(keyword))
  if (strange.length > 0) throw new Error(`Teach test/fuzz/JsonSchema.ts the keyword ${strange.join(", ")}`)
  if (schema.$ref === undefined) return schema
  const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)
  const found = all[name.replaceAll("~1", "/").replaceAll("~0", "~")]
  if (found === undefined) throw new Error(`The document has no schema ${name}`)
  return resolved(found, all)
}

/** A value that should fit. Hints supply names that only the service knows (models, GPU types). */
export const valueOf = (
  given: Schema,
  all: Schemas,
  chance: Chance,
  hint: (name: string) => unknown,
  name = "",
  depth = 0
): unknown => {
  const schema = resolved(given, all)
  const inner = (one: Schema, key = name) => valueOf(one, all, chance, hint, key, depth + 1)
  const hinted = chance.maybe(0.9) ? hint(name) : undefined
  if (hinted !== undefined && schema.properties === undefined && depth < 3) return hinted
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return chance.pick(schema.enum)
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives !== undefined) return inner(chance.pick(alternatives))
  if (schema.allOf !== undefined && schema.type === undefined) return inner(schema.allOf[0]!)
  const type = typeof schema.type === "object" ? chance.pick(schema.type) : schema.type
  switch (type) {
    case "null":
      return null
    case "boolean":
      return chance.maybe(0.5)
    case "integer":
    case "number": {
      const low = schema.minimum ?? schema.exclusiveMinimum ?? 0
      const high = Math.min(schema.maximum ?? low + 20, low + 1_000)
      const value = low + chance.next() * (high - low)
      return type === "integer" ? Math.ceil(value) : value
    }
    case "string":
      return textOf(schema, chance)
    case "array": {
      if (depth > 5 || schema.items === undefined || schema.items === false) return []
      const length = Math.min(schema.maxItems ?? 3, (schema.minItems ?? 0) + chance.below(3))
      return Array.from({ length }, () => inner(schema.items as Schema))
    }
    default:
      return objectOf(schema, chance, inner, depth)
  }
}

const objectOf = (schema: Schema, chance: Chance, inner: (one: Schema, key?: string) => unknown, depth: number) => {
  const fields = Object.entries(schema.properties ?? {})
  const kept = fields.filter(([key]) => schema.required?.includes(key) === true || chance.maybe(depth > 4 ? 0.1 : 0.3))
  const made = kept.map(([key, one]) => [key, inner(one, key)] as const)
  return Object.fromEntries(made)
}

const textOf = ({ maxLength = 40, minLength = 0, pattern }: Schema, chance: Chance): string => {
  if (pattern !== undefined) return chance.pick(["A", "a_b", "main", "0", "4"])
  const words = "a quiet harbour waits for the tide while boats rest"
  const length = Math.min(maxLength, minLength + chance.below(40))
  return words.slice(0, Math.max(minLength, length)).padEnd(minLength, "x")
}

/** The reason why a value does not fit, or undefined. */
export const misfit = (value: unknown, given: Schema, all: Schemas, path = "$"): string | undefined => {
  const schema = resolved(given, all)
  const first = (schemas: ReadonlyArray<Schema>) => schemas.map((one) => misfit(value, one, all, path))
  if (schema.const !== undefined && value !== schema.const) return `${path} is not ${JSON.stringify(schema.const)}`
  if (schema.enum !== undefined && !schema.enum.includes(value)) return `${path} is none of ${schema.enum.join(", ")}`
  if (schema.not !== undefined && misfit(value, schema.not, all, path) === undefined) return `${path} must not be this`
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives !== undefined) {
    const faults = first(alternatives)
    if (!faults.includes(undefined)) return `${path} fits nothing: ${faults.join("; ")}`
  }
  const wrong = first(schema.allOf ?? []).find((fault) => fault !== undefined)
  if (wrong !== undefined) return wrong
  const types = schema.type === undefined ? [] : typeof schema.type === "string" ? [schema.type] : schema.type
  if (types.length > 0 && !types.some((type) => isOf(value, type))) return `${path} is no ${types.join(" or ")}`
  if (typeof value === "number") {
    if (value < (schema.minimum ?? -Infinity) || value > (schema.maximum ?? Infinity)) return `${path} is out of bounds`
  }
  if (typeof value === "string" && schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) {
    return `${path} does not match ${schema.pattern}`
  }
  if (Array.isArray(value) && schema.items !== undefined && schema.items !== false) {
    for (const [index, item] of value.entries()) {
      const fault = misfit(item, schema.items, all, `${path}.${index}`)
      if (fault !== undefined) return fault
    }
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const fields = value as Readonly<Record<string, unknown>>
  const missing = schema.required?.find((key) => !(key in fields))
  if (missing !== undefined) return `${path}.${missing} is missing`
  for (const [key, field] of Object.entries(fields)) {
    const known = schema.properties?.[key]
    if (known === undefined && schema.additionalProperties === false) return `${path}.${key} is not in the document`
    const fault = known === undefined ? undefined : misfit(field, known, all, `${path}.${key}`)
    if (fault !== undefined) return fault
  }
  return undefined
}

const isOf = (value: unknown, type: string): boolean => {
  switch (type) {
    case "null":
      return value === null
    case "array":
      return Array.isArray(value)
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value)
    case "integer":
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
