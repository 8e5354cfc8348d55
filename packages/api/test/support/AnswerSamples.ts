/**
 * Answers made from JSON Schema: each has every field that the schema names, and the paths of the required fields that may
 * be null. A union gives one sample for each of its alternatives.
 */
interface Json {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<Json>
  readonly enum?: ReadonlyArray<unknown>
  readonly format?: string
  readonly items?: Json
  readonly not?: object
  readonly properties?: Readonly<Record<string, Json>>
  readonly required?: ReadonlyArray<string>
  readonly type?: string
}
export type Path = ReadonlyArray<string | number>

export interface Sample {
  readonly value: unknown
  /** The same with one more field in each object whose fields the schema names. */
  readonly grown: unknown
  readonly nullable: ReadonlyArray<Path>
}

/** All samples of `root`, whose references are to `definitions`. */
export const samplesOf = (root: Json, definitions: Readonly<Record<string, Json>>): ReadonlyArray<Sample> => {
  const resolved = (schema: Json): Json =>
    schema.$ref === undefined ? schema : definitions[schema.$ref.split("/").at(-1)!]!

  const variants = (reference: Json): ReadonlyArray<Sample> => {
    const schema = resolved(reference)
    if (schema.anyOf !== undefined) return schema.anyOf.filter((each) => !isNull(each)).flatMap(variants)
    if (schema.enum !== undefined) return [plain(schema.enum[0])]
    if (schema.type === "object") return objectsOf(schema)
    if (schema.type === "array") return [arrayOf(schema)]
    const scalar = schema.format === "date-time" ? "2026-01-31T12:00:00.000Z" : SCALARS[schema.type ?? ""]
    if (scalar === undefined) throw new Error(`no sample of ${JSON.stringify(schema)}`)
    return [plain(scalar)]
  }

  /** One object of the first variant of each property, and one more for each other variant. */
  const objectsOf = (schema: Json): ReadonlyArray<Sample> => {
    const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => ({
      name,
      isNullable: schema.required?.includes(name) === true && isNullable(resolved(field)),
      of: variants(field)
    }))
    const build = (pick: (field: (typeof fields)[number]) => Sample): Sample => {
      const picked = fields.map((field) => [field, pick(field)] as const)
      const open = fields.length === 0 ? {} : { new_in_a_later_version: { of: [1, "x"] } }
      return {
        value: Object.fromEntries(picked.map(([{ name }, { value }]) => [name, value])),
        grown: { ...Object.fromEntries(picked.map(([{ name }, { grown }]) => [name, grown])), ...open },
        nullable: picked.flatMap(([{ isNullable, name }, { nullable }]) => [
          ...(isNullable ? [[name]] : []),
          ...nullable.map((path) => [name, ...path])
        ])
      }
    }
    return [
      build(({ of }) => of[0]!),
      ...fields.flatMap((other) =>
        other.of.slice(1).map((sample) => build((field) => (field === other ? sample : field.of[0]!)))
      )
    ]
  }

  /** An array with one item of each variant; empty where the schema allows no item. */
  const arrayOf = ({ items }: Json): Sample => {
    const samples = items === undefined || items.not !== undefined ? [] : variants(items)
    return {
      value: samples.map(({ value }) => value),
      grown: samples.map(({ grown }) => grown),
      nullable: samples.flatMap(({ nullable }, at) => nullable.map((path) => [at, ...path]))
    }
  }

  return variants(root)
}

const SCALARS: Readonly<Record<string, unknown>> = { string: "text", integer: 1, number: 1, boolean: true, null: null }
const plain = (value: unknown): Sample => ({ value, grown: value, nullable: [] })
const isNull = (schema: Json): boolean => schema.type === "null"
const isNullable = (schema: Json): boolean => isNull(schema) || schema.anyOf?.some(isNull) === true

/** Returns the value at `path`. */
export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce((inner, key) => (inner as Readonly<Record<string, unknown>> | undefined)?.[key], value)

/** The sample without the field at `path`. */
export const without = (value: unknown, path: Path): unknown => {
  const copy = structuredClone(value)
  delete (valueAt(copy, path.slice(0, -1)) as Record<string, unknown>)[path.at(-1)!]
  return copy
}
