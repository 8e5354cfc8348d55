/** What a test asks of the double, checked where it comes in: all that is wrong at once, and how it should be. */
import { issuesOf, NAME } from "@sluice/machine-shell/Programs"
import { Duration, Option, Predicate, Schema } from "effect"
import type { SluiceOptions } from "./SluiceOptions.ts"

/** It can't be had as it was asked for. `call` is the function, `wrong` what is wrong with what it was given. */
class DoubleOptionsInvalid extends Schema.TaggedError<DoubleOptionsInvalid>()("DoubleOptionsInvalid", {
  call: Schema.String,
  wrong: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `${this.call}: ${this.wrong.join("; ")}`
  }
}

export const refusal = (call: string, ...wrong: ReadonlyArray<string>) => new DoubleOptionsInvalid({ call, wrong })

/** By option: what it may be, and how that is said. All may be left out. */
type Rules = Readonly<Record<string, readonly [(value: unknown) => boolean, string]>>

const within = (least: number, most: number) => (value: unknown) =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

/** All that is told of a time has four digits for its year. */
const LATEST = Date.UTC(9999, 0) - 1

const START: Rules = {
  seed: [within(0, Number.MAX_SAFE_INTEGER), "a whole number from 0"],
  clock: [(value) => value === "virtual" || value === "real", `"virtual" or "real"`],
  now: [
    (value) => value instanceof Date && within(0, LATEST)(value.getTime()),
    "a valid Date of the years 1970 to 9998"
  ],
  latency: [Predicate.isBoolean, "true or false"],
  programs: [
    (value) =>
      Predicate.isObject(value) &&
      Object.entries(value).every(([name, text]) => NAME.test(name) && Predicate.isString(text)),
    "the texts of bash scripts by name, of letters, digits and _ . + -"
  ],
  port: [within(0, 65_535), "a port from 0 (any that is free) to 65535"]
}

const FAULT: Rules = {
  chance: [(value) => Number(value) >= 0 && Number(value) <= 1 && Predicate.isNumber(value), "a number from 0 to 1"],
  times: [within(1, Number.MAX_SAFE_INTEGER), "a whole number from 1"]
}

export const checkStart = (options: SluiceOptions): void => {
  check("startSluice", options, START)
  const wrong = issuesOf(options.programs ?? {})
  if (wrong.length > 0) throw refusal("startSluice", ...wrong)
  if (options.clock === "real" && options.now !== undefined) {
    throw refusal("startSluice", 'now is when virtual time begins: leave it out with clock: "real"')
  }
}
export const checkFault = (name: string, options: unknown): void => check(`fault("${name}")`, options, FAULT)

const UNITS = ["weeks", "days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"]

/** What Effect takes for no time at all: an object without a number of a unit. */
const isMeant = (duration: unknown): boolean => {
  if (!Predicate.isObject(duration) || Duration.isDuration(duration)) return true
  const parts = Object.entries(duration)
  return parts.length > 0 && parts.every(([unit, many]) => UNITS.includes(unit) && Number.isFinite(many))
}

/** Milliseconds. */
export const durationOf = (duration: unknown): number => {
  const given = isMeant(duration) ? Duration.fromInput(duration as Duration.Input) : Option.none()
  const ms = Option.map(given, Duration.toMillis)
  if (Option.isSome(ms) && Number.isFinite(ms.value) && ms.value >= 0 && !Number.isNaN(duration)) return ms.value
  throw refusal(
    "advance",
    `the duration must be milliseconds from 0, or like "90 seconds", "30 minutes" or { hours: 2 }, not ${shown(duration)}`
  )
}

const check = (call: string, given: unknown, rules: Rules): void => {
  const wrong = Predicate.isObject(given)
    ? Object.entries(given).flatMap(([name, value]) => wrongOf(name, value, rules))
    : [`the options must be an object, not ${shown(given)}`]
  if (wrong.length > 0) throw refusal(call, ...wrong)
}

const wrongOf = (name: string, value: unknown, rules: Rules): ReadonlyArray<string> => {
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
  if (rule === undefined) return [`there is no option ${name}; there are ${Object.keys(rules).join(", ")}`]
  const [fits, what] = rule
  return value === undefined || fits(value) ? [] : [`${name} must be ${what}, not ${shown(value)}`]
}

const shown = (value: unknown): string => {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value)
  return text.length > 80 ? `${text.slice(0, 80)}...` : text
}
