/** Simulated films as MP4: H.264 that browsers play, its index in front, the same bytes for the same task. */
import { drawFrame, FRAMES_PER_SECOND } from "@sluice/simulator/models/FilmFrames"
import type { FilmTask } from "@sluice/simulator/models/Studio"
import encoders from "h264-mp4-encoder"
import { BlobSource, BufferTarget, Conversion, Input, MP4, Mp4OutputFormat, Output } from "mediabunny"

/** Of 10 to 51: more is smaller. */
const QUANTIZATION = 34
/** Of 0 to 10: more is faster. */
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

/** A film that begins to play before all of it is there. */
const indexInFront = async (file: Uint8Array): Promise<Uint8Array> => {
  const input = new Input({ source: new BlobSource(new Blob([new Uint8Array(file)])), formats: [MP4] })
  const target = new BufferTarget()
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: "in-memory" }), target })
  const conversion = await Conversion.init({ input, output, showWarnings: false })
  await conversion.execute()
  input.dispose()
  return new Uint8Array(target.buffer!)
}
