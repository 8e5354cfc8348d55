/**
 * Renders simulated videos as MP4: H.264 that browsers play, with the index in front. The same task gives the same
 * bytes.
 */
import { drawFrame, FRAMES_PER_SECOND } from "@sluice/simulator/models/FilmFrames"
import type { FilmTask } from "@sluice/simulator/models/Studio"
import encoders from "h264-mp4-encoder"
import { BlobSource, BufferTarget, Conversion, Input, MP4, Mp4OutputFormat, Output } from "mediabunny"

/** From 10 to 51; a higher value gives a smaller file. */
const QUANTIZATION = 34
/** From 0 to 10; a higher value encodes faster. */
const SPEED = 10

export const renderFilm = async ({ height, key, seconds, width }: FilmTask): Promise<Uint8Array> => {
  const encoder = await encoders.createH264MP4Encoder()
  try {
    encoder.width = width
    encoder.height = height
    encoder.frameRate = FRAMES_PER_SECOND
    encoder.quantizationParameter = QUANTIZATION
    encoder.speed = SPEED
    encoder.groupOfPictures = 2 * FRAMES_PER_SECOND
    encoder.initialize()
    const frame = new Uint8Array((width * height * 3) / 2)
    const frames = seconds * FRAMES_PER_SECOND
    for (let n = 0; n < frames; n++) {
      drawFrame(frame, width, height, key, n / frames)
      encoder.addFrameYuv(frame)
    }
    encoder.finalize()
    return await indexInFront(encoder.FS.readFile(encoder.outputFilename))
  } finally {
    encoder.delete()
  }
}

/** Moves the index to the front, so that playback starts before the whole file has arrived. */
const indexInFront = async (file: Uint8Array): Promise<Uint8Array> => {
  const input = new Input({ source: new BlobSource(new Blob([new Uint8Array(file)])), formats: [MP4] })
  const target = new BufferTarget()
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: "in-memory" }), target })
  const conversion = await Conversion.init({ input, output, showWarnings: false })
  await conversion.execute()
  input.dispose()
  const film = new DataView(target.buffer!)
  eraseTimes(film, 0, film.byteLength)
  return new Uint8Array(target.buffer!)
}

const CONTAINER_BOXES = new Set(["moov", "trak", "mdia"])
const TIMED_BOXES = new Set(["mvhd", "tkhd", "mdhd"])
const HEAD_BYTES = 8

/** Erases the times of creation, because the same task may be rendered again and must give the same bytes. */
const eraseTimes = (film: DataView, from: number, to: number): void => {
  for (let at = from, size = 0; at + HEAD_BYTES < to; at += size) {
    size = film.getUint32(at)
    // A box that extends to the end of the file, or is larger than 32 bits, holds the frames. Every box with times
    // comes before it.
    if (size < HEAD_BYTES) return
    const name = String.fromCharCode(...new Uint8Array(film.buffer, at + 4, 4))
    if (CONTAINER_BOXES.has(name)) eraseTimes(film, at + HEAD_BYTES, at + size)
    if (!TIMED_BOXES.has(name)) continue
    // Version and flags, then the times of creation and modification: four bytes each, eight from version 1 on.
    const times = at + HEAD_BYTES + 4
    new Uint8Array(film.buffer, times, film.getUint8(at + HEAD_BYTES) === 0 ? 8 : 16).fill(0)
  }
}
