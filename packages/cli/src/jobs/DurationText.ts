/** Parses durations as people type them: `30m`, `1h30m`, `2d`. Refuses a bare number, because its unit is ambiguous. */
import * as Result from "effect/Result"

const SECONDS = { d: 86_400, h: 3_600, m: 60, s: 1 } as const
const FORM = /^(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$/

/** Returns whole minutes, the unit of the service, rounded up. */
export const minutesOf = (text: string): Result.Result<number, string> => {
  const found = FORM.exec(text.trim().toLowerCase())
  const [, d, h, m, s] = found ?? []
  const seconds = amount(d, SECONDS.d) + amount(h, SECONDS.h) + amount(m, SECONDS.m) + amount(s, SECONDS.s)
  return found === null || text.trim() === "" || seconds === 0
    ? Result.fail("must be a duration with its unit, like 90s, 30m, 1h30m or 1d")
    : Result.succeed(Math.ceil(seconds / 60))
}

const amount = (digits: string | undefined, unit: number) => Number(digits ?? 0) * unit
