/** Mutations of a body, alone and combined: mistakes of clients and attempts of attackers. */
import type { Chance } from "./Chance.ts"

type Json = unknown

const NUMBERS = [0, -1, 1.5, 1e308, -1e308, 2 ** 53, 1e-9]
const WORDS = [
  "",
  " ",
  "0",
  "-1",
  "1.5",
  "true",
  "null",
  "NaN",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff\ud800",
  "\u202e",
  "é",
  "🎉"
]
const TRICKS = [
  "'; drop table jobs; --",
  "../../etc/passwd",
  "__proto__",
  "<|endoftext|>",
  "${HOME}",
  "$(id)",
  "data:image/png;base64,iVBORw0KGgo=",
  "http://169.254.169.254/",
  "x".repeat(5_000)
]
const SHAPES: ReadonlyArray<Json> = [
  null,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  { a: 1 },
  { constructor: 1 },
  [1, "a", null],
  { type: "text" },
  { id: "" }
]
const ODD: ReadonlyArray<Json> = [...NUMBERS, ...WORDS, ...TRICKS, ...SHAPES]

/** The body with one mutation at a random place. */
export const spoil = (body: Json, chance: Chance): Json => {
  if (typeof body !== "object" || body === null || chance.maybe(0.12)) return chance.pick(ODD)
  if (Array.isArray(body)) {
    if (body.length === 0 || chance.maybe(0.2)) return [...body, chance.pick(ODD)]
    const at = chance.below(body.length)
    if (chance.maybe(0.15)) return body.filter((_, index) => index !== at)
    if (chance.maybe(0.1)) return Array.from({ length: chance.pick([300, 3_000]) }, () => body[at])
    return body.map((item, index) => (index === at ? spoil(item, chance) : item))
  }
  const fields = Object.entries(body)
  if (fields.length === 0 || chance.maybe(0.1)) return { ...body, [chance.pick(NAMES)]: chance.pick(ODD) }
  const [name, value] = chance.pick(fields)
  if (chance.maybe(0.15)) return Object.fromEntries(fields.filter(([key]) => key !== name))
  return { ...body, [name]: chance.maybe(0.4) ? chance.pick(ODD) : spoil(value, chance) }
}

const NAMES = ["nonsense", "__proto__", "constructor", "", "\0", "id", "status", "workspace_id", "x".repeat(300)]

/** The body's JSON text, corrupted. */
export const tear = (text: string, chance: Chance): string | Uint8Array<ArrayBuffer> => {
  switch (chance.below(7)) {
    case 0:
      return text.slice(0, chance.below(text.length + 1))
    case 1:
      return `${text}${text}`
    case 2:
      return `${"[".repeat(5_000)}${text}`
    case 3:
      return text.replace("{", '{"a":1,"a":2,')
    case 4:
      return new Uint8Array([...new TextEncoder().encode(text), 0xff, 0xc0, 0x80])
    case 5:
      return `\ufeff${text}`
    default:
      return chance.pick(["", " ", "null", "0", '"text"', "[]", "{", "undefined", "<xml/>", "a=1&b=2", "\0"])
  }
}

export const oddText = (chance: Chance): string => {
  const odd = chance.pick(ODD)
  return typeof odd === "string" ? odd : JSON.stringify(odd)
}
