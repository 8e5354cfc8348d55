/**
 * Everything that the command writes, stdout and stderr in order, with the machine's time. Bounded: a machine that
 * writes more than the limit is ended.
 */
import type { Chunk } from "../Shell.ts"
import { Explanations } from "./Explanations.ts"
import { toldFirst } from "./Tracing.ts"

export const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024
const encoder = new TextEncoder()

/** What the interpreter says of commands that it has in other packagings. */
const NOTICE = /command not available in browser environments\. Exclude .* or use the Node\.js bundle\./g
/** ... and of a file whose directory is not there. */
const UNOPENED = /: cannot open redirect target$/gm
const NOTICE_LENGTH = 1_000

interface Piece {
  readonly at: number
  /** The background job that wrote it; 0 for the command itself. */
  readonly job: number
  readonly parts: Array<Uint8Array>
}

/** Files that get what the console gets, and what of them there was before. */
export interface Copies {
  readonly paths: ReadonlyArray<string>
  readonly outer: Copies | undefined
}

export class Console {
  /** The job that writes at present. */
  job = 0
  full = false
  /** Scripts trace themselves. */
  traced = false
  copies: Copies = { paths: [], outer: undefined }
  readonly explanations = new Explanations()
  #size = 0
  readonly #pieces: Array<Piece> = []
  readonly #onFull: () => void

  constructor(onFull: () => void) {
    this.#onFull = onFull
  }

  write(at: number, content: string | Uint8Array, encoding: "bytes" | "text"): void {
    if (this.full || content.length === 0) return
    if (typeof content === "string" && content.length < NOTICE_LENGTH)
      content = this.explanations.explained(
        content.replace(NOTICE, "command not found").replace(UNOPENED, ": No such file or directory")
      )
    if (this.traced && typeof content === "string") content = toldFirst(content)
    const bytes =
      typeof content === "string" ? (encoding === "text" ? encoder.encode(content) : latin1(content)) : content
    const room = OUTPUT_LIMIT_BYTES - this.#size
    this.#append(at, bytes.length > room ? bytes.slice(0, room) : bytes)
    if (bytes.length <= room) return
    this.#append(at, encoder.encode(`\nsimulated machine: killed: more than ${OUTPUT_LIMIT_BYTES} bytes of output\n`))
    this.full = true
    this.#onFull()
  }

  /** What was written up to `end`, without what ended jobs wrote after their end. */
  chunks(end: number, endOf: (job: number) => number): ReadonlyArray<Chunk> {
    const kept = this.#pieces.filter((piece) => piece.at <= end && piece.at <= endOf(piece.job))
    const ordered = kept.map((piece, index) => ({ piece, index }))
    ordered.sort((a, b) => a.piece.at - b.piece.at || a.index - b.index)
    const chunks: Array<{ at: number; parts: Array<Uint8Array> }> = []
    for (const { piece } of ordered) {
      const last = chunks[chunks.length - 1]
      if (last?.at === piece.at) for (const part of piece.parts) last.parts.push(part)
      else chunks.push({ at: piece.at, parts: [...piece.parts] })
    }
    return chunks.map(({ at, parts }) => ({ at, bytes: joined(parts) }))
  }

  #append(at: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#size += bytes.length
    const last = this.#pieces[this.#pieces.length - 1]
    if (last?.at === at && last.job === this.job) last.parts.push(bytes)
    else this.#pieces.push({ at, job: this.job, parts: [bytes] })
  }
}

/** The bytes of a string in which each character stands for one. */
const latin1 = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
