/** Formats the numbers of awk as C does. They come marked out of the interpreter, which shows 1e-10 as `1e-1`. */
import { formatPadded } from "./Numbers.ts"

/**
 * Returns a format that marks a number for `formatMarkedNumbers`. `conversion` is a conversion of `printf`; without it the
 * number is shown as `print` does.
 */
export const markFormat = (conversion = ""): string => `\u0001${conversion}:%.17e\u0002`

// oxlint-disable-next-line no-control-regex
const MARKED = /\u0001([-+ 0#]*)(\d*)(?:\.(\d*))?([eEgG]?):([^\u0002]*)\u0002/g

export const formatMarkedNumbers = (output: string): string =>
  output.replace(MARKED, (_, flags: string, width: string, precision: string | undefined, kind: string, text: string) =>
    formatPadded(Number(text), { flags, width, precision, kind })
  )
