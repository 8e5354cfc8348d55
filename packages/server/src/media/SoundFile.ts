/** What a file of sound says of itself: how long it is, and the comment that somebody left in it. */
import { ALL_FORMATS, BlobSource, Input } from "mediabunny"
import { openAsBlob } from "node:fs"

export interface SoundFacts {
  /** Undefined: it is no sound in a known format. */
  readonly durationMs: number | undefined
  readonly comment: string | undefined
}

export const readSound = async (path: string): Promise<SoundFacts> => {
  const file = await openAsBlob(path)
  const input = new Input({ source: new BlobSource(file), formats: ALL_FORMATS })
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
