/** Numbers as `%g` of C shows them, at most `precision` digits of them; the interpreter drops zeros that count. */
export const general = (value: number, precision = 6, keepsZeros = false): string => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf"
  const digits = Math.min(Math.max(precision, 1), MOST_DIGITS)
  const [mantissa = "", power = "0"] = value.toExponential(digits - 1).split("e")
  const exponent = Number(power)
  const trimmed = (text: string) => (keepsZeros || !text.includes(".") ? text : text.replace(/\.?0+$/, ""))
  if (exponent >= -4 && exponent < digits) return trimmed(value.toFixed(Math.min(digits - 1 - exponent, MOST_DIGITS)))
  const sign = exponent < 0 ? "-" : "+"
  return `${trimmed(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`
}

const MOST_DIGITS = 100
