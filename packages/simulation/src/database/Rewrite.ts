/**
 * Changes statements on their way to the database, to plant a bug that the sources do not have. For tests that show that
 * the simulation would find it.
 */
import { message } from "@sluice/server/database/PgliteFrames"

/** A text in a statement and what stands there instead. */
export type Replacement = readonly [from: string, to: string]

export class Rewrite {
  private readonly replacements: ReadonlyArray<Replacement>
  /** Which replacements were made; one that never is plants nothing. */
  readonly made = new Set<Replacement>()

  constructor(replacements: ReadonlyArray<Replacement>) {
    this.replacements = replacements
  }

  batch(bytes: Buffer): Buffer {
    const frames: Array<Buffer> = []
    for (let at = 0, end = 0; at < bytes.length; at = end) {
      end = at + 1 + bytes.readInt32BE(at + 1)
      const frame = bytes.subarray(at, end)
      frames.push(frame[0] === PARSE ? this.parse(frame) : frame)
    }
    return Buffer.concat(frames)
  }

  private parse(frame: Buffer): Buffer {
    const from = frame.indexOf(0, 5) + 1
    const to = frame.indexOf(0, from)
    const text = frame.toString("utf8", from, to)
    const changed = this.replacements.reduce((sql, replacement) => this.replace(sql, replacement), text)
    if (changed === text) return frame
    return message("P", Buffer.concat([frame.subarray(5, from), Buffer.from(changed), frame.subarray(to)]))
  }

  private replace(sql: string, replacement: Replacement): string {
    if (!sql.includes(replacement[0])) return sql
    this.made.add(replacement)
    return sql.replaceAll(replacement[0], replacement[1])
  }
}

const PARSE = 0x50
