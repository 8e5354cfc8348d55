/** Draws texts and numbers that satisfy a schema, and checks given values against it. */
import { between, textHash, unit } from "./Draws.ts"
import { type JsonSchema, SchemaUnsupported, type Work } from "./JsonSchemas.ts"
import { patternText } from "./PatternText.ts"

const MAX_TEXT = 10_000

/** Returns a bound of a length or a count; one more than `most` when it is beyond that. */
export const limit = (value: unknown, fallback: number, most: number): number =>
  typeof value === "number" && value >= 0 ? Math.min(Math.ceil(value), most + 1) : fallback

/** Returns a text of the schema's format or pattern, or else a few of `words`. */
export const textOf = (node: JsonSchema, words: ReadonlyArray<string>, key: number, n: number, work: Work): string => {
  const format = typeof node["format"] === "string" ? FORMATS[node["format"]] : undefined
  if (format !== undefined) {
    // A pattern beside a known format says the same more exactly, so it is not checked.
    if (!satisfies(node, format)) throw new SchemaUnsupported({ message: "no text of its format has its length" })
    return format
  }
  const [least, most] = [limit(node["minLength"], 0, MAX_TEXT), limit(node["maxLength"], MAX_TEXT, MAX_TEXT)]
  if (least > most || least > MAX_TEXT) throw new SchemaUnsupported({ message: "minLength can't be met" })
  const pattern = String(node["pattern"] ?? "")
  if (!ANY_TEXT.has(pattern)) {
    const within = [least, Math.min(most, MAX_TEXT)] as const
    return patternText(pattern, within, textHash(key, String(n)), work)
  }
  const start = between(key, n, 0, words.length - 1)
  const phrase = [...words.slice(start, start + between(key, n + 7_000, 1, 5)).join(" ")].slice(0, most)
  return phrase.join("").padEnd(least + phrase.join("").length - phrase.length, ".")
}

/** Patterns that every text of `words` matches. */
const ANY_TEXT = new Set(["", ".*", "^.*$", "^[\\s\\S]*$"])

const uuid = (version: number): string => `00000000-0000-${version}000-8000-000000000000`

/** Texts of the known formats. An unknown format asks for nothing: it is an annotation. */
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T12:00:00Z",
  date: "2026-01-01",
  time: "12:00:00Z",
  duration: "PT1H",
  email: "someone@example.com",
  "idn-email": "someone@example.com",
  hostname: "example.com",
  "idn-hostname": "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  "uri-reference": "https://example.com/",
  iri: "https://example.com/",
  url: "https://example.com/",
  uuid: uuid(4),
  // Formats of pydantic's types, which check their values.
  ...Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`uuid${at + 1}`, uuid(at + 1)])),
  ipvanyaddress: "192.0.2.1",
  ipvanyinterface: "192.0.2.1/24",
  ipvanynetwork: "192.0.2.0/24",
  ipv4interface: "192.0.2.1/24",
  ipv4network: "192.0.2.0/24",
  ipv6interface: "2001:db8::1/64",
  ipv6network: "2001:db8::/64",
  "json-string": "{}",
  regex: "[a-z]+",
  byte: "dGV4dA==",
  base64: "dGV4dA=="
}

/**
 * Returns a number within the bounds. It is whole unless both bounds are given, as for a share of one: the type of the
 * reader may be whole, and its schema may not say so.
 */
export const numberOf = (node: JsonSchema, integer: boolean, key: number, n: number): number => {
  const { low: given, high: top } = bounds(node, integer)
  const whole = integer || given === -Infinity || top === Infinity
  const unitOf = node["multipleOf"]
  if (unitOf !== undefined) return multipleOf(unitOf, { low: given, high: top, integer }, key, n)
  const low = given === -Infinity ? (top === Infinity ? 0 : Math.min(0, top - 1)) : given
  const high = Math.max(low, Math.min(top, low + 100))
  const drawn = low + unit(key, n) * (high - low)
  const value = whole ? Math.min(Math.max(Math.round(drawn), Math.ceil(low)), Math.floor(high)) : drawn
  if (value < given || value > top || (whole && !Number.isInteger(value)))
    throw new SchemaUnsupported({ message: "no number fits its bounds" })
  return value
}

interface Wanted {
  readonly low: number
  readonly high: number
  readonly integer: boolean
}

/** Returns the first multiple from the drawn one on that a division confirms too: 0.3 divided by 0.1 is not 3. */
const multipleOf = (step: unknown, { high, integer, low }: Wanted, key: number, n: number): number => {
  if (typeof step !== "number" || !(step > 0)) throw new SchemaUnsupported({ message: '"multipleOf" must be above 0' })
  const first = low === -Infinity ? Math.min(0, Math.floor(high / step)) : Math.ceil(low / step)
  const count = Math.min(first + 100, Math.floor(high / step)) - first + 1
  const drawn = count > 0 ? between(key, n, 0, count - 1) : 0
  for (let i = 0; i < count; i++) {
    // Without the last digits, which are inexact in products of decimals.
    const value = Number((step * (first + ((drawn + i) % count))).toPrecision(15))
    const fits = value >= low && value <= high && (!integer || Number.isInteger(value))
    if (fits && Number.isInteger(value / step)) return value
  }
  throw new SchemaUnsupported({ message: "no number fits its bounds" })
}

const bounds = (node: JsonSchema, whole: boolean) => {
  const bound = (word: string) => (typeof node[word] === "number" ? node[word] : undefined)
  const above = bound("exclusiveMinimum")
  const below = bound("exclusiveMaximum")
  return {
    low: Math.max(bound("minimum") ?? -Infinity, above === undefined ? -Infinity : firstAbove(above, whole)),
    high: Math.min(bound("maximum") ?? Infinity, below === undefined ? Infinity : -firstAbove(-below, whole))
  }
}

/** Returns the smallest number above the bound. Beyond 2^53 a whole number plus one can be the same number. */
const firstAbove = (bound: number, whole: boolean): number => {
  const next = whole ? Math.floor(bound) + 1 : bound
  return next > bound ? next : nextUp(bound)
}

/** Returns the next larger number of the type. */
const nextUp = (value: number): number => {
  if (value === 0) return Number.MIN_VALUE
  const bits = new BigInt64Array(new Float64Array([value]).buffer)
  bits[0]! += value > 0 ? 1n : -1n
  return new Float64Array(bits.buffer)[0]!
}

/** Returns true when a value that the schema names has the type and the size that the schema asks for. */
export const satisfies = (node: JsonSchema, value: unknown): boolean => {
  const types = node["type"] === undefined ? [] : [node["type"]].flat()
  if (types.length > 0 && !types.some((type) => isOf(type, value))) return false
  if (typeof value === "string") {
    const { length } = [...value]
    return length >= limit(node["minLength"], 0, MAX_TEXT) && length <= limit(node["maxLength"], MAX_TEXT, MAX_TEXT)
  }
  if (typeof value !== "number") return true
  const { high, low } = bounds(node, false)
  return value >= low && value <= high
}

const isOf = (type: unknown, value: unknown): boolean => {
  if (type === "null") return value === null
  if (type === "integer") return Number.isInteger(value)
  if (type === "array") return Array.isArray(value)
  return type === "object"
    ? typeof value === "object" && value !== null && !Array.isArray(value)
    : typeof value === type
}
