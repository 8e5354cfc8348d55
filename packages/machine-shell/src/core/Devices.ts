/**
 * What never ends: `/dev/zero`, `/dev/urandom` from the run's own chance, and what `yes` says. A command that can say how
 * much it wants gets that; everything else reads as much as a pipe may hold for a reader who stops early.
 */
export const DEVICES = ["/dev/zero", "/dev/random", "/dev/urandom"]
export const isEndless = (path: string): boolean => DEVICES.includes(path)

/** A size that no file has by accident: who reads that much of a pipe may ask for more of the same. */
export const ENDLESS_BYTES = 262_147

/** The first bytes, a character each. */
export const endlessText = (path: string, size: number, random: () => number): string =>
  path === "/dev/zero" ? "\0".repeat(size) : latin1(endless(path, size, random))

export const endless = (path: string, size: number, random: () => number): Uint8Array => {
  const bytes = new Uint8Array(size)
  if (path === "/dev/zero") return bytes
  let state = random() | 1
  for (let i = 0; i < size; i++) {
    // xorshift32: fast enough for the whole disk.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[i] = state >>> 11
  }
  return bytes
}

/** What `yes` gives to a pipe: it cannot see that the reader has gone, so it stops by itself. */
export const repeated = (line: string): string => line.repeat(Math.ceil(ENDLESS_BYTES / Buffer.byteLength(line)))

/** The line, as bytes, that came through a pipe from `yes`; undefined: that was something else. */
export const repeatedLine = (input: string): string | undefined => {
  const line = input.slice(0, input.indexOf("\n") + 1)
  return line !== "" && input.length >= ENDLESS_BYTES && input === timesOf(line, ENDLESS_BYTES) ? line : undefined
}

/** As often as it takes to have `size` bytes. */
const timesOf = (line: string, size: number): string => line.repeat(Math.ceil(size / line.length))

/** What came through a pipe from where there is no end, continued up to `size`; anything else as it is. */
export const continued = (input: string, size: number, random: () => number): string => {
  if (size <= input.length) return input
  const line = repeatedLine(input)
  if (line !== undefined) return timesOf(line, size)
  if (input.length !== ENDLESS_BYTES) return input
  const path = /[^\0]/.test(input) ? "/dev/urandom" : "/dev/zero"
  return input + endlessText(path, size - input.length, random)
}

/** Bytes as a string with a character for each. */
const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer).toString("latin1")
