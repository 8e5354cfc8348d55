/**
 * Sends frames of the wire protocol to the embedded database and returns the raw reply. PGlite's own call would parse
 * every reply row by row and keep the result until its next query; here the client parses the reply itself.
 */
import type { PGlite } from "@electric-sql/pglite"

/** The caller must hold PGlite's exclusive lock. */
export const executeFrames = async (db: PGlite, frames: Uint8Array): Promise<Buffer> => {
  const parts: Array<Uint8Array> = []
  await db.execProtocolRawStream(frames, { onRawData: (part) => parts.push(part.slice()) })
  return Buffer.concat(parts)
}

/** Runs synchronously, before anything else can run. Only for a database in memory, which writes no files. */
export const executeFramesNow = (db: PGlite, frames: Uint8Array): Buffer => {
  const parts: Array<Uint8Array> = []
  // The whole reply has arrived when the call returns. The promise is only for file systems.
  db.execProtocolRawStream(frames, { syncToFs: false, onRawData: (part) => parts.push(part.slice()) }).catch(() => {})
  if (parts.length === 0) throw new Error("The embedded database sent no reply")
  return Buffer.concat(parts)
}
