/** Numbers of awk come marked out of the interpreter, which shows 1e-10 as `1e-1`; here they are shown as C does. */
import { padded } from "./Numbers.ts"

/** What shows a number so that `withNumbers` finds it: as this conversion of `printf` has it, or as `print` does. */
export const markedNumber = (how = ""): string => `\u0001${how}:%.17e\u0002`

// oxlint-disable-next-line no-control-regex
const MARKED = /\u0001([-+ 0#]*)(\d*)(?:\.(\d*))?([eEgG]?):([^\u0002]*)\u0002/g

export const withNumbers = (output: string): string =>
  output.replace(MARKED, (_, flags: string, width: string, precision: string | undefined, kind: string, text: string) =>
    padded(Number(text), { flags, width, precision, kind })
  )
