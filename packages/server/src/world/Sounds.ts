/** Simulated speech as files: MP3 and WAV with the words in their comment, or bare samples. MP3 needs a registered encoder. */
import { SAMPLE_RATE, speechSound } from "@sluice/simulator/models/SpeechSound"
import type { SoundTask } from "@sluice/simulator/models/Studio"
import { AudioSample, AudioSampleSource, BufferTarget, Mp3OutputFormat, Output, WavOutputFormat } from "mediabunny"

const BITRATE = 64_000
/** Marks a comment as words that a simulated voice said. */
const MARK = "sluice-words:"

export const renderSound = async ({ format, key, speed, text }: SoundTask): Promise<Uint8Array> => {
  const samples = speechSound(text, key, speed)
  if (format === "pcm") return new Uint8Array(samples.buffer)
  const target = new BufferTarget()
  const output = new Output({ format: format === "mp3" ? new Mp3OutputFormat() : new WavOutputFormat(), target })
  const source = new AudioSampleSource(format === "mp3" ? { codec: "mp3", bitrate: BITRATE } : { codec: "pcm-s16" })
  output.addAudioTrack(source)
  // Tags of WAV are Latin-1: percent signs keep every letter.
  output.setMetadataTags({ comment: MARK + encodeURIComponent(text.toWellFormed()) })
  await output.start()
  for (let at = 0; at < samples.length; at += SAMPLE_RATE) {
    const data = samples.subarray(at, at + SAMPLE_RATE)
    const timestamp = at / SAMPLE_RATE
    const sample = new AudioSample({ data, format: "s16", numberOfChannels: 1, sampleRate: SAMPLE_RATE, timestamp })
    await source.add(sample)
    sample.close()
  }
  await output.finalize()
  return new Uint8Array(target.buffer!)
}

/** The words that `renderSound` left. */
export const wordsFrom = (comment: string | undefined): string | undefined => {
  if (comment?.startsWith(MARK) !== true) return undefined
  try {
    return decodeURIComponent(comment.slice(MARK.length))
  } catch {
    return undefined
  }
}
