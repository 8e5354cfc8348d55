/** Parses the texts of `date -d` as GNU does: dates, times, zones and shifts, in any order. Pure. */
const SECOND = 1000
const DAY = 86_400_000
const UNITS: Readonly<Record<string, number>> = {
  sec: SECOND,
  second: SECOND,
  min: 60 * SECOND,
  minute: 60 * SECOND,
  hour: 3600 * SECOND,
  day: DAY,
  week: 7 * DAY,
  fortnight: 14 * DAY
}
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

interface Reading {
  year: number
  month: number
  day: number
  hasDate: boolean
  /** Milliseconds of the day. Undefined: the time of now, or midnight when a date is given. */
  time: number | undefined
  zone: number | undefined
  months: number
  shift: number
  weekday: { readonly day: number; readonly ordinal: number } | undefined
}

type Rule = readonly [
  pattern: RegExp,
  read: (found: ReadonlyArray<string | undefined>, reading: Reading) => boolean | void
]

const setDate = (reading: Reading, year: string | undefined, month: number, day: string | undefined): boolean => {
  Object.assign(reading, { month, day: Number(day), hasDate: true }, year === undefined ? {} : { year: Number(year) })
  return (
    month >= 0 &&
    month < 12 &&
    reading.day >= 1 &&
    reading.day <= new Date(Date.UTC(reading.year, month + 1, 0)).getUTCDate()
  )
}

const addShift = (reading: Reading, count: number, unit: string): void => {
  if (unit === "month") reading.months += count
  else if (unit === "year") reading.months += 12 * count
  else reading.shift += count * UNITS[unit]!
}

const NAMES = `(${MONTHS.join("|")})[a-z]*\\.?`
const UNIT = "(sec|second|min|minute|hour|day|week|fortnight|month|year)s?\\b"
/** The first rule that matches takes its part of the text. `false`: the text is no moment. */
const RULES: ReadonlyArray<Rule> = [
  [
    /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:t(?=\d))?/,
    ([, year, month, day], one) => setDate(one, year, Number(month) - 1, day)
  ],
  [/^(\d{4})(\d\d)(\d\d)(?:t(?=\d))?(?!\d)/, ([, year, month, day], one) => setDate(one, year, Number(month) - 1, day)],
  [/^(\d{1,2})\/(\d{1,2})(?:\/(\d{4}))?/, ([, month, day, year], one) => setDate(one, year, Number(month) - 1, day)],
  [
    // Behind a time `+ 2 hours` is a zone and one hour, as in GNU's.
    /^(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s*(am|pm)?(?:\s*(z|utc|gmt)\b|\s*([-+])\s*(\d{1,2})(?::?(\d\d))?)?/,
    ([, hour, minute, second = "0", part = "", half, utc, sign, hours, minutes = "0"], one) => {
      const full = half === undefined ? Number(hour) : (Number(hour) % 12) + (half === "pm" ? 12 : 0)
      one.time = (full * 3600 + Number(minute) * 60 + Number(second)) * SECOND + Math.floor(Number(`0.${part}0`) * 1000)
      if (utc !== undefined) one.zone = 0
      if (sign !== undefined) one.zone = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60_000 : 60_000)
      return full < 24 && Number(minute) < 60 && Number(second) < 60
    }
  ],
  [
    new RegExp(`^${NAMES}\\s+(\\d{1,2})(?!\\d|:)(?:,?\\s+(\\d{4})(?!\\d))?`),
    ([, name, day, year], one) => setDate(one, year, MONTHS.indexOf(name!), day)
  ],
  [
    new RegExp(`^(\\d{1,2})[\\s-]+${NAMES}(?:[\\s-]+(\\d{4}))?`),
    ([, day, name, year], one) => setDate(one, year, MONTHS.indexOf(name!), day)
  ],
  [
    /^(\d{1,2})\s*(am|pm)\b/,
    ([, hour, half], one) => void (one.time = ((Number(hour) % 12) + (half === "pm" ? 12 : 0)) * 3600 * SECOND)
  ],
  [/^(z|utc|gmt)\b/, (_, one) => void (one.zone = 0)],
  [/^(now|today)\b/, () => {}],
  [/^midnight\b/, (_, one) => void (one.time = 0)],
  [/^noon\b/, (_, one) => void (one.time = DAY / 2)],
  [/^(yesterday|tomorrow)\b/, ([, name], one) => addShift(one, name === "tomorrow" ? 1 : -1, "day")],
  [
    new RegExp(`^(?:([-+]?)\\s*(\\d{1,9})|(next)|(last))?\\s*${UNIT}(\\s+ago\\b)?`),
    ([, sign, count = "1", , last, unit, ago], one) =>
      addShift(one, Number(count) * ((sign === "-" || last !== undefined) !== (ago !== undefined) ? -1 : 1), unit!)
  ],
  [
    new RegExp(`^(next\\s+|last\\s+)?(${DAYS.join("|")})[a-z]*\\b,?`),
    ([, which = "", name], one) =>
      void (one.weekday = { day: DAYS.indexOf(name!), ordinal: which.startsWith("n") ? 1 : which === "" ? 0 : -1 })
  ],
  [/^(\d{4})(?!\d)/, ([, year], one) => (one.hasDate ? void (one.year = Number(year)) : false)]
]

/**
 * Returns a moment in Unix milliseconds; undefined for a text that is none. `hasZone`: the text says its zone itself,
 * else it is read as UTC.
 */
export const parseMoment = (
  text: string,
  now: number
): { readonly at: number; readonly hasZone: boolean } | undefined => {
  const stamp = /^\s*@(-?\d{1,12})(\.\d+)?\s*$/.exec(text)
  if (stamp !== null)
    return { at: Number(stamp[1]) * SECOND + Math.floor(Number(`0${stamp[2] ?? ""}`) * 1000), hasZone: true }
  const today = new Date(now)
  const reading: Reading = {
    year: today.getUTCFullYear(),
    month: today.getUTCMonth(),
    day: today.getUTCDate(),
    hasDate: false,
    time: undefined,
    zone: undefined,
    months: 0,
    shift: 0,
    weekday: undefined
  }
  // An empty text is midnight.
  if (text.trim() === "") reading.time = 0
  for (let rest = text.trim().toLowerCase(); rest !== "";) {
    const [found, rule] = matchRule(rest)
    if (rule?.[1](found, reading) === false || rule === undefined) return undefined
    rest = rest.slice(found[0]!.length).replace(/^[\s,]+/, "")
  }
  const { weekday, hasDate, time = hasDate || weekday !== undefined ? 0 : now - Math.floor(now / DAY) * DAY } = reading
  let date = Date.UTC(reading.year, reading.month + reading.months, reading.day)
  if (weekday !== undefined && !hasDate) {
    const ahead = (weekday.day - new Date(date).getUTCDay() + 7) % 7
    date += (ahead + 7 * (weekday.ordinal - (weekday.ordinal > 0 && ahead !== 0 ? 1 : 0))) * DAY
  }
  const at = date + time + reading.shift - (reading.zone ?? 0)
  return {
    at,
    hasZone: reading.zone !== undefined || (!hasDate && reading.time === undefined && weekday === undefined)
  }
}

const matchRule = (text: string): readonly [ReadonlyArray<string | undefined>, Rule | undefined] => {
  for (const rule of RULES) {
    const found = rule[0].exec(text)
    if (found !== null) return [found, rule]
  }
  return [[], undefined]
}
