/**
 * Renders simulated speech as files: MP3 and WAV with the words in their comment tag, or raw samples. MP3 needs a
 * registered encoder.
 */
import { SAMPLE_RATE, speechSound } from "@sluice/simulator/models/SpeechSound"
import type { SoundTask } from "@sluice/simulator/models/Studio"
import { AudioSample, AudioSampleSource, BufferTarget, Mp3OutputFormat, Output, WavOutputFormat } from "mediabunny"

const BITRATE = 64_000
/** Marks a comment tag that contains the words of a simulated voice. */
const MARK = "sluice-words:"

export const renderSound = async ({ format, key, speed, text }: SoundTask): Promise<Uint8Array> => {
  const samples = speechSound(text, key, speed)
  if (format === "pcm") return new Uint8Array(samples.buffer)
  const target = new BufferTarget()
  const output = new Output({ format: format === "mp3" ? new Mp3OutputFormat() : new WavOutputFormat(), target })
  const source = new AudioSampleSource(format === "mp3" ? { codec: "mp3", bitrate: BITRATE } : { codec: "pcm-s16" })
  output.addAudioTrack(source)
  // WAV tags are Latin-1; percent-encoding preserves every character.
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

/** Returns the words that `renderSound` stored in the comment tag. */
export const wordsFrom = (comment: string | undefined): string | undefined => {
  if (comment?.startsWith(MARK) !== true) return undefined
  try {
    return decodeURIComponent(comment.slice(MARK.length))
  } catch {
    return undefined
  }
}
