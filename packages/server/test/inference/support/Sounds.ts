/** Small decoders of our own for what the server sends: frames of MP3, chunks of WAV. */

/** All of the file behind its tag is frames, one after the other (MPEG-2 layer III here). */
export const framesOf = (file: Buffer) => {
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + file[at]!, 0)
  let at = file.subarray(0, 3).toString() === "ID3" ? 10 + size : 0
  let frames = 0
  while (at < file.length) {
    const head = file.readUInt32BE(at)
    if (head >>> 21 !== 0x7ff) throw new Error(`No frame at byte ${at}`)
    const bitrate = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160][(head >> 12) & 15]! * 1_000
    const rate = [22_050, 24_000, 16_000][(head >> 10) & 3]!
    at += Math.floor((72 * bitrate) / rate) + ((head >> 9) & 1)
    frames++
  }
  return { frames, seconds: (frames * 576) / 24_000 }
}

export const wavOf = (file: Buffer) => {
  if (file.subarray(0, 4).toString() !== "RIFF" || file.subarray(8, 12).toString() !== "WAVE") throw new Error("No WAV")
  const chunks = new Map<string, Buffer>()
  for (let at = 12; at + 8 <= file.length;) {
    const length = file.readUInt32LE(at + 4)
    chunks.set(file.subarray(at, at + 4).toString(), file.subarray(at + 8, at + 8 + length))
    at += 8 + length + (length & 1)
  }
  const format = chunks.get("fmt ")!
  const samples = chunks.get("data")!
  const [channels, sampleRate, bits] = [format.readUInt16LE(2), format.readUInt32LE(4), format.readUInt16LE(14)]
  return { channels, sampleRate, bits, samples, seconds: samples.length / (sampleRate * channels * (bits / 8)) }
}
