/**
 * Measures WAV files by their header and their bytes. A streaming recorder does not know the final size and writes 0 or
 * 0xFFFFFFFF; the rest of the file is the sound then. A stated size never makes a sound longer than the file's bytes. The reader
 * reads a bounded number of chunks, at most 44 bytes of each.
 */
import { couldBeSound } from "./SoundBounds.ts"

export type ReadAt = (start: number, end: number) => Promise<Uint8Array>

export interface Wave {
  readonly durationMs: number
  /** The file does not state the size of its sound. */
  readonly isStreamed: boolean
}

const MAX_CHUNKS = 1_000
const UNKNOWN_SIZES: ReadonlyArray<number> = [0, 0xffff_ffff]
const RIFF_HEAD = 12
const CHUNK_HEAD = 8
const MIN_FORMAT = 16
/** Bits of a sample: of whole numbers, of fractions, of A-law and of mu-law. */
const DEPTHS: Readonly<Record<number, ReadonlyArray<number>>> = { 1: [8, 16, 24, 32], 3: [32, 64], 6: [8], 7: [8] }
const EXTENSIBLE = 0xfffe
/** The offset of the real format tag in an extensible format. */
const SUB_FORMAT = 24

/** Returns undefined if the file is no WAV file. */
export const readWave = async (read: ReadAt, size: number): Promise<Wave | "invalid" | undefined> => {
  const head = view(await read(0, Math.min(RIFF_HEAD, size)))
  const kind = textAt(head, 0)
  if (!KINDS.has(kind) || textAt(head, 8) !== "WAVE") return undefined
  const isLittle = kind !== "RIFX"
  const stated = head.getUint32(4, isLittle)
  let format: Format | undefined
  let wideSize = 0
  let at = RIFF_HEAD
  for (let count = 0; count < MAX_CHUNKS && at + CHUNK_HEAD <= size; count++) {
    const chunk = view(await read(at, Math.min(at + CHUNK_HEAD + 36, size)))
    const id = textAt(chunk, 0)
    const length = chunk.getUint32(4, isLittle)
    const start = at + CHUNK_HEAD
    if (id === "ds64" && chunk.byteLength >= CHUNK_HEAD + 16) wideSize = Number(chunk.getBigUint64(16, isLittle))
    if (id === "fmt ") format = formatOf(chunk, length, isLittle)
    if (id === "data") {
      if (format === undefined) return "invalid"
      const rest = size - start
      // A file with its stated length and a sound size of 0 has no sound.
      const isWhole = length === 0 && stated + CHUNK_HEAD === size
      const isStreamed = wideSize === 0 && UNKNOWN_SIZES.includes(length) && !isWhole
      const bytes = isStreamed ? rest : Math.min(wideSize > 0 ? wideSize : length, rest)
      return { durationMs: (Math.floor(bytes / format.frameBytes) / format.sampleRate) * 1_000, isStreamed }
    }
    at = start + length + (length % 2)
  }
  return "invalid"
}

const KINDS = new Set(["RIFF", "RIFX", "RF64"])

interface Format {
  readonly sampleRate: number
  readonly frameBytes: number
}

const formatOf = (chunk: DataView, length: number, isLittle: boolean): Format | undefined => {
  if (length < MIN_FORMAT || chunk.byteLength < CHUNK_HEAD + MIN_FORMAT) return undefined
  const u16 = (offset: number) => chunk.getUint16(CHUNK_HEAD + offset, isLittle)
  const tag = u16(0)
  const isExtensible = tag === EXTENSIBLE && length > SUB_FORMAT + 2 && chunk.byteLength >= CHUNK_HEAD + SUB_FORMAT + 2
  const depth = u16(14)
  const channels = u16(2)
  const sampleRate = chunk.getUint32(CHUNK_HEAD + 4, isLittle)
  const isKnown = DEPTHS[isExtensible ? u16(SUB_FORMAT) : tag]?.includes(depth) === true
  return isKnown && couldBeSound({ channels, sampleRate })
    ? { sampleRate, frameBytes: (channels * depth) / 8 }
    : undefined
}

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const textAt = (bytes: DataView, at: number): string =>
  bytes.byteLength < at + 4 ? "" : String.fromCharCode(...[0, 1, 2, 3].map((offset) => bytes.getUint8(at + offset)))
