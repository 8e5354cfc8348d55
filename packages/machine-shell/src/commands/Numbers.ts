/** Formats numbers as `%g` and `%e` of C do. The interpreter drops significant zeros. */
/** Returns a number as `%g` shows it, with at most `precision` digits. */
const formatGeneral = (value: number, precision = 6, hasZeros = false): string => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf"
  const digits = Math.min(Math.max(precision, 1), MAX_DIGITS)
  const [mantissa = "", power = "0"] = value.toExponential(digits - 1).split("e")
  const exponent = Number(power)
  const trim = (text: string) => (hasZeros || !text.includes(".") ? text : text.replace(/\.?0+$/, ""))
  if (exponent >= -4 && exponent < digits) return trim(value.toFixed(Math.min(digits - 1 - exponent, MAX_DIGITS)))
  const sign = exponent < 0 ? "-" : "+"
  return `${trim(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`
}

const MAX_DIGITS = 100

/** Returns a number as `%e` shows it. */
const formatExponential = (value: number, precision: number): string =>
  Number.isFinite(value)
    ? value.toExponential(Math.min(precision, MAX_DIGITS)).replace(/e([-+])(\d)$/, "e$10$2")
    : formatGeneral(value)

const MAX_WIDTH = 10_000

/** The parts of a `%e` or `%g` conversion of `printf`. */
export interface Conversion {
  readonly flags: string
  readonly width: string
  readonly precision: string | undefined
  readonly kind: string
}

/** Returns a number with its sign and zeros, but without the blanks up to its width. */
export const formatNumber = (value: number, { flags, kind, precision, width }: Conversion): string => {
  const digits = precision === undefined ? 6 : Number(precision)
  const text = /e/i.test(kind) ? formatExponential(value, digits) : formatGeneral(value, digits, flags.includes("#"))
  const sign = text.startsWith("-") ? "" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : ""
  const whole = /[EG]/.test(kind) ? (sign + text).toUpperCase() : sign + text
  if (!flags.includes("0") || flags.includes("-")) return whole
  const zeros = Math.max(0, Math.min(Number(width), MAX_WIDTH) - whole.length)
  return whole.replace(/^[-+ ]?/, (one) => one + "0".repeat(zeros))
}

/** Returns the same with the blanks, in front of the number or behind it. */
export const formatPadded = (value: number, conversion: Conversion): string => {
  const width = Math.min(Number(conversion.width), MAX_WIDTH)
  const text = formatNumber(value, conversion)
  return conversion.flags.includes("-") ? text.padEnd(width) : text.padStart(width)
}
