/** Kinds of fields in the JSON files that operators write, each with the words that say what it must be. */
import { Schema } from "effect"

export const opt = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

export const whole = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }, { expected: `an integer from ${minimum} to ${maximum}` }))

export const number = (minimum: number, maximum: number) =>
  Schema.Finite.check(Schema.isBetween({ minimum, maximum }, { expected: `a number from ${minimum} to ${maximum}` }))

export const list = <S extends Schema.Constraint>(item: S, most: number) =>
  Schema.Array(item).check(Schema.isBetweenLength(1, most, { expected: `a list of 1 to ${most}` }))

export const text = (pattern: RegExp, expected: string) =>
  Schema.String.check(Schema.isPattern(pattern, { expected, toJsonSchema: () => ({ pattern: pattern.source }) }))

const MAX_PRICE = 1_000_000
/** Nano-USD are exact: nine decimals. */
export const usd = (description: string) =>
  Schema.Finite.check(
    Schema.makeFilter((n: number) => n >= 0 && n <= MAX_PRICE && Number(n.toFixed(9)) === n, {
      expected: `USD from 0 to ${MAX_PRICE} with at most 9 decimals`,
      toJsonSchema: () => ({ minimum: 0, maximum: MAX_PRICE })
    })
  ).annotate({ description })
