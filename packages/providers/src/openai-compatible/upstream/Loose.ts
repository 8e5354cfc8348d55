/** JSON of an upstream, read without trust and without copies: what is not of the asked type is not there. */

export type Fields = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : NONE)
const NONE: ReadonlyArray<unknown> = []

export const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

export const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined

export const field = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined)

/** The value of a JSON text; undefined: it is none. */
export const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
