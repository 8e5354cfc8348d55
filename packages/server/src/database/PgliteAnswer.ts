/**
 * What the embedded database answers to frames of the wire protocol, as it comes. PGlite left to itself reads every answer
 * too, row by row, and keeps what it read until a query of its own: whoever asked here reads for himself.
 */
import type { PGlite } from "@electric-sql/pglite"

/** Within the exclusive turn of the caller. */
export const answerOf = async (db: PGlite, frames: Uint8Array): Promise<Buffer> => {
  const parts: Array<Uint8Array> = []
  await db.execProtocolRawStream(frames, { onRawData: (part) => parts.push(part.slice()) })
  return Buffer.concat(parts)
}

/** The same before anything else runs; for a database in memory, which writes to no file. */
export const answerNow = (db: PGlite, frames: Uint8Array): Buffer => {
  const parts: Array<Uint8Array> = []
  // All of it has come when the call returns; the promise is that of a file system.
  db.execProtocolRawStream(frames, { syncToFs: false, onRawData: (part) => parts.push(part.slice()) }).catch(() => {})
  if (parts.length === 0) throw new Error("The embedded database gave no answer")
  return Buffer.concat(parts)
}
