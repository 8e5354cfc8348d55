/** Numbers as `%g` of C shows them, at most `precision` digits of them; the interpreter drops zeros that count. */
const general = (value: number, precision = 6, keepsZeros = false): string => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf"
  const digits = Math.min(Math.max(precision, 1), MAX_DIGITS)
  const [mantissa = "", power = "0"] = value.toExponential(digits - 1).split("e")
  const exponent = Number(power)
  const trimmed = (text: string) => (keepsZeros || !text.includes(".") ? text : text.replace(/\.?0+$/, ""))
  if (exponent >= -4 && exponent < digits) return trimmed(value.toFixed(Math.min(digits - 1 - exponent, MAX_DIGITS)))
  const sign = exponent < 0 ? "-" : "+"
  return `${trimmed(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`
}

const MAX_DIGITS = 100

/** As `%e` shows them. */
const exponential = (value: number, precision: number): string =>
  Number.isFinite(value)
    ? value.toExponential(Math.min(precision, MAX_DIGITS)).replace(/e([-+])(\d)$/, "e$10$2")
    : general(value)

const MAX_WIDTH = 10_000

/** A conversion of `printf` to `%e` or `%g`, in its parts. */
export interface Conversion {
  readonly flags: string
  readonly width: string
  readonly precision: string | undefined
  readonly kind: string
}

/** With its sign and zeros, but without the blanks up to its width. */
export const converted = (value: number, { flags, kind, precision, width }: Conversion): string => {
  const digits = precision === undefined ? 6 : Number(precision)
  const text = /e/i.test(kind) ? exponential(value, digits) : general(value, digits, flags.includes("#"))
  const sign = text.startsWith("-") ? "" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : ""
  const whole = /[EG]/.test(kind) ? (sign + text).toUpperCase() : sign + text
  if (!flags.includes("0") || flags.includes("-")) return whole
  const zeros = Math.max(0, Math.min(Number(width), MAX_WIDTH) - whole.length)
  return whole.replace(/^[-+ ]?/, (one) => one + "0".repeat(zeros))
}

/** The same with blanks, in front of it or behind. */
export const padded = (value: number, conversion: Conversion): string => {
  const width = Math.min(Number(conversion.width), MAX_WIDTH)
  const text = converted(value, conversion)
  return conversion.flags.includes("-") ? text.padEnd(width) : text.padStart(width)
}
