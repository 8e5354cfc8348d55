/** Bounds of a plausible sound. With a header outside them, a small file would count as days of sound. */

/** Samples a second. Telephones use 8,000, instruments 192,000. */
const MIN_SAMPLE_RATE = 4_000
const MAX_SAMPLE_RATE = 384_000
/** Ambisonic recordings of the seventh order have 64. */
const MAX_CHANNELS = 128
/** Bytes of a second of compressed silence: FLAC and Opus need more than twice as many. */
const MIN_BYTES_PER_SECOND = 8

export interface SoundShape {
  readonly channels: number
  readonly sampleRate: number
}

export const couldBeSound = ({ channels, sampleRate }: SoundShape): boolean =>
  channels >= 1 && channels <= MAX_CHANNELS && sampleRate >= MIN_SAMPLE_RATE && sampleRate <= MAX_SAMPLE_RATE

/** True if a compressed file of `bytes` bytes can last `seconds` seconds. */
export const couldLast = (seconds: number, bytes: number): boolean => seconds * MIN_BYTES_PER_SECOND <= bytes
