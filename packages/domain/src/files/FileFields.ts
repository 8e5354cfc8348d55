/** Fields of the JSON files that operators write. The message of each says which values are valid. */
import { Schema } from "effect"

export const opt = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

export const whole = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }, { expected: `an integer from ${minimum} to ${maximum}` }))

export const number = (minimum: number, maximum: number) =>
  Schema.Finite.check(Schema.isBetween({ minimum, maximum }, { expected: `a number from ${minimum} to ${maximum}` }))

export const list = <S extends Schema.Constraint>(item: S, maxLength: number) =>
  Schema.Array(item).check(Schema.isBetweenLength(1, maxLength, { expected: `a list of 1 to ${maxLength}` }))

export const text = (pattern: RegExp, expected: string) =>
  Schema.String.check(Schema.isPattern(pattern, { expected, toJsonSchema: () => ({ pattern: pattern.source }) }))

const MAX_PRICE = 1_000_000
/** A price in USD. At most nine decimals, because the smallest amount is a nano-USD. */
export const usd = (description: string) =>
  Schema.Finite.check(
    Schema.makeFilter((n: number) => n >= 0 && n <= MAX_PRICE && Number(n.toFixed(9)) === n, {
      expected: `USD from 0 to ${MAX_PRICE} with at most 9 decimals`,
      toJsonSchema: () => ({ minimum: 0, maximum: MAX_PRICE })
    })
  ).annotate({ description })
