/** Reads the duration and the comment tag of a sound file. */
import { ALL_FORMATS, CustomSource, Input } from "mediabunny"
import { open } from "node:fs/promises"
import { couldBeSound, couldLast } from "./SoundBounds.ts"
import { readWave } from "./WaveHeader.ts"

export interface SoundFacts {
  /** Undefined where the file is no sound in a known format. */
  readonly durationMs: number | undefined
  readonly comment: string | undefined
}

/**
 * Reads the facts of a file. It closes the file before it returns, so that deleting the file frees its space at once.
 * The source has no path, so a playlist can't name other files of this host.
 */
export const readSound = async (path: string): Promise<SoundFacts> => {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const read = async (start: number, end: number) => {
      const { buffer, bytesRead } = await file.read(new Uint8Array(end - start), 0, end - start, start)
      return buffer.subarray(0, bytesRead)
    }
    const wave = await readWave(read, size)
    if (wave === "invalid") return NOTHING
    // The library takes the samples of such a file for chunks, millions of them.
    if (wave?.isStreamed === true) return { ...NOTHING, durationMs: wholeMs(wave.durationMs) }
    const facts = await factsOf(new CustomSource({ getSize: () => size, read, prefetchProfile: "fileSystem" }), size)
    return wave === undefined ? facts : { ...facts, durationMs: wholeMs(wave.durationMs) }
  } finally {
    await file.close()
  }
}

const factsOf = async (source: CustomSource, size: number): Promise<SoundFacts> => {
  const input = new Input({ source, formats: ALL_FORMATS })
  try {
    const track = (await input.canRead()) ? await input.getPrimaryAudioTrack() : null
    if (track === null) return NOTHING
    const [channels, sampleRate] = [await track.getNumberOfChannels(), await track.getSampleRate()]
    if (!couldBeSound({ channels, sampleRate })) return NOTHING
    const seconds = await input.computeDuration()
    if (!couldLast(seconds, size)) return NOTHING
    const { comment } = await input.getMetadataTags()
    return { durationMs: wholeMs(seconds * 1_000), comment }
  } catch {
    return NOTHING
  } finally {
    input.dispose()
  }
}

const wholeMs = (ms: number): number | undefined => (ms > 0 ? Math.max(1, Math.round(ms)) : undefined)

const NOTHING: SoundFacts = { durationMs: undefined, comment: undefined }
