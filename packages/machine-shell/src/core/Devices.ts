/**
 * Endless inputs: `/dev/zero`, `/dev/urandom` from the run's own random sequence, and the output of `yes`. A command
 * that knows how many bytes it needs reads that many. Every other command reads `ENDLESS_BYTES`, as much as a pipe
 * holds for a reader that stops early.
 */
export const DEVICES = ["/dev/zero", "/dev/random", "/dev/urandom"]
export const isEndless = (path: string): boolean => DEVICES.includes(path)

/** A size that no file has by accident: a pipe that holds exactly so much comes from a device, and can be extended. */
export const ENDLESS_BYTES = 262_147

/** Returns the first `size` bytes of a device, one character for each byte. */
export const readEndlessText = (path: string, size: number, random: () => number): string =>
  path === "/dev/zero" ? "\0".repeat(size) : latin1(readEndless(path, size, random))

export const readEndless = (path: string, size: number, random: () => number): Uint8Array => {
  const bytes = new Uint8Array(size)
  if (path === "/dev/zero") return bytes
  let state = random() | 1
  for (let i = 0; i < size; i++) {
    // xorshift32: fast enough to fill the whole disk.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[i] = state >>> 11
  }
  return bytes
}

/** Returns the output of `yes` to a pipe. `yes` cannot see that its reader has gone, so it stops by itself. */
export const repeatLine = (line: string): string => line.repeat(Math.ceil(ENDLESS_BYTES / Buffer.byteLength(line)))

/** Returns the line that `yes` wrote to a pipe, one character for each byte; undefined for any other input. */
export const repeatedLineOf = (input: string): string | undefined => {
  const line = input.slice(0, input.indexOf("\n") + 1)
  return line !== "" && input.length >= ENDLESS_BYTES && input === repeatUpTo(line, ENDLESS_BYTES) ? line : undefined
}

/** Repeats the line until it has at least `size` bytes. */
const repeatUpTo = (line: string, size: number): string => line.repeat(Math.ceil(size / line.length))

/** Extends the input from an endless source to at least `size` bytes; returns any other input unchanged. */
export const extendEndless = (input: string, size: number, random: () => number): string => {
  if (size <= input.length) return input
  const line = repeatedLineOf(input)
  if (line !== undefined) return repeatUpTo(line, size)
  if (input.length !== ENDLESS_BYTES) return input
  const path = /[^\0]/.test(input) ? "/dev/urandom" : "/dev/zero"
  return input + readEndlessText(path, size - input.length, random)
}

/** Returns bytes as a string with one character for each byte. */
const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer).toString("latin1")
