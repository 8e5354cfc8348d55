/** Bounds of what is a sound at all. A header outside them is a mistake or a trick: by it a small file would last for days. */

/** Samples a second: telephones have 8,000, instruments 192,000. */
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

/** Whether a compressed file of this many bytes can last so long. */
export const couldLast = (seconds: number, bytes: number): boolean => seconds * MIN_BYTES_PER_SECOND <= bytes
