/** Reads the duration and the comment tag of a sound file. */
import { ALL_FORMATS, CustomSource, Input } from "mediabunny"
import { open } from "node:fs/promises"

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
    return await factsOf(new CustomSource({ getSize: () => size, read, prefetchProfile: "fileSystem" }))
  } finally {
    await file.close()
  }
}

const factsOf = async (source: CustomSource): Promise<SoundFacts> => {
  const input = new Input({ source, formats: ALL_FORMATS })
  try {
    if (!(await input.canRead()) || (await input.getPrimaryAudioTrack()) === null) return NOTHING
    const seconds = await input.computeDuration()
    const { comment } = await input.getMetadataTags()
    return { durationMs: seconds > 0 ? Math.max(1, Math.round(seconds * 1_000)) : undefined, comment }
  } catch {
    return NOTHING
  } finally {
    input.dispose()
  }
}

const NOTHING: SoundFacts = { durationMs: undefined, comment: undefined }
