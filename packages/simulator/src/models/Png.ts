/**
 * Encodes PNG files of 8-bit RGB pixels. The compression runs beside the event loop; rows are drawn a few at a time.
 */
import { Effect } from "effect"
import type { Beside } from "./Studio.ts"

/** Pixels that are drawn before other fibers get their turn. */
const PIXELS_AT_ONCE = 32_768

/** Returns the file. `row` fills three bytes for each pixel of a row. */
export const png = (width: number, height: number, row: (y: number, pixels: Uint8Array) => void, beside: Beside) =>
  Effect.gen(function* () {
    const stride = 1 + 3 * width
    const raw = new Uint8Array(stride * height)
    const rows = Math.max(1, Math.floor(PIXELS_AT_ONCE / width))
    // The first byte of a row names its filter: none.
    for (let y = 0; y < height; y++) {
      row(y, raw.subarray(y * stride + 1, (y + 1) * stride))
      if (y % rows === 0) yield* Effect.yieldNow
    }
    const packed = yield* beside(Effect.promise(() => deflate(raw)))
    const head = new DataView(new ArrayBuffer(13))
    head.setUint32(0, width)
    head.setUint32(4, height)
    head.setUint8(8, 8)
    head.setUint8(9, 2)
    return concatenate([
      SIGNATURE,
      chunk("IHDR", new Uint8Array(head.buffer)),
      chunk("IDAT", packed),
      chunk("IEND", NOTHING)
    ])
  })

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
const NOTHING = new Uint8Array()

const deflate = async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
  new Uint8Array(
    await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer()
  )

/** Returns a chunk: length, name, content, and the checksum of name and content. */
const chunk = (name: string, content: Uint8Array): Uint8Array => {
  const body = concatenate([new TextEncoder().encode(name), content])
  const out = new Uint8Array(body.length + 8)
  const view = new DataView(out.buffer)
  view.setUint32(0, content.length)
  out.set(body, 4)
  view.setUint32(body.length + 4, crc32(body))
  return out
}

const concatenate = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let k = 0; k < 8; k++) c = (c & 1) === 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c
})

const crc32 = (bytes: Uint8Array): number => {
  let c = 0xffffffff
  for (let i = 0; i < bytes.length; i++) c = CRC[(c ^ bytes[i]!) & 0xff]! ^ (c >>> 8)
  return (c ^ 0xffffffff) >>> 0
}
