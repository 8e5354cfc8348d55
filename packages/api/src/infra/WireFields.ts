/** Wire fields that several resources share: times, money, ids. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

export const DateTime = Schema.String.annotate({ format: "date-time", description: "RFC 3339, UTC, milliseconds." })
export const Usd = Schema.Finite.annotate({ description: "USD, at most 9 decimals." })

/**
 * A field of an answer that an older server may not send. The client decodes a missing field as `whenMissing`. The server
 * always sends it, so the contract and the document keep it required.
 */
export const withDefault = <S extends Schema.Top>(schema: S, whenMissing: S["Type"]) =>
  schema.pipe(Schema.middlewareDecoding(Effect.map(Option.orElseSome(() => whenMissing))))

/** A nullable field of an answer: the client decodes a missing one as null. */
export const nullable = <S extends Schema.Top>(schema: S, description?: string) =>
  withDefault(Schema.NullOr(schema).annotate({ description }), null)

/** A field of an answer that is always null. */
export const alwaysNull = withDefault(Schema.Null, null)

export const required = { messageMissingKey: "is required" }

/** The path parameter of one resource. */
export const idParams = { id: Schema.String }

/**
 * An integer of a query, in digits alone. JavaScript reads `1e1`, `0x5` and ` 5` as numbers, too, but their callers mean
 * something else. `rule`: the message for every other text.
 */
export const queryInteger = (
  minimum: number,
  maximum: number,
  rule: { readonly message: string; readonly description: string }
) =>
  Schema.String.check(Schema.isPattern(/^\d{1,16}$/, rule)).pipe(
    Schema.decodeTo(
      Schema.Int.annotate(rule).check(Schema.isBetween({ minimum, maximum }, rule)),
      SchemaTransformation.numberFromString
    )
  )

/** True where `YYYY-MM-DD` is a day of the calendar. `Date.parse` accepts 30 February as the 2nd of March. */
export const isDay = (text: string): boolean => {
  const day = Date.parse(`${text}T00:00:00.000Z`)
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day) && new Date(day).toISOString().startsWith(text)
}

export const iso = (date: Date): string => date.toISOString()
export const isoOrNull = (date: Date | null): string | null => (date === null ? null : date.toISOString())
