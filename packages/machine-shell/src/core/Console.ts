/**
 * Collects the output of the command, stdout and stderr in the order of their writes, each with the machine's time. The
 * size is bounded: a command that writes more is killed.
 */
import type { Chunk } from "../Shell.ts"
import { Explanations } from "./Explanations.ts"
import { moveTracesFirst } from "./Tracing.ts"

/** A run keeps its output in memory: a higher limit costs memory, a lower one kills verbose commands. */
export const MAX_OUTPUT_BYTES = 64 * 1024 * 1024
const encoder = new TextEncoder()

/** The interpreter's message for a command that only its other bundles have. */
const NOTICE = /command not available in browser environments\. Exclude .* or use the Node\.js bundle\./g
/** The interpreter's message for a redirection into a missing directory. */
const UNOPENED = /: cannot open redirect target$/gm
/** Characters. A longer write is output of the command, and is not searched for the messages above. */
const MAX_NOTICE_LENGTH = 1_000

interface Piece {
  readonly at: number
  /** The background job that wrote it; 0 for the command itself. */
  readonly job: number
  readonly parts: Array<Uint8Array>
}

/** Files that get a copy of the console's output, and the copies that were active before these. */
export interface Copies {
  readonly paths: ReadonlyArray<string>
  readonly outer: Copies | undefined
}

export class Console {
  /** The background job that writes now; 0 for the command itself. */
  currentJob = 0
  isFull = false
  /** True: a script of this run may trace itself with `set -x`. */
  isTraced = false
  copies: Copies = { paths: [], outer: undefined }
  readonly explanations = new Explanations()
  #size = 0
  readonly #pieces: Array<Piece> = []
  readonly #onFull: () => void

  constructor(onFull: () => void) {
    this.#onFull = onFull
  }

  write(at: number, content: string | Uint8Array, encoding: "bytes" | "text"): void {
    if (this.isFull || content.length === 0) return
    if (typeof content === "string" && content.length < MAX_NOTICE_LENGTH)
      content = this.explanations.explain(
        content.replace(NOTICE, "command not found").replace(UNOPENED, ": No such file or directory")
      )
    if (this.isTraced && typeof content === "string") content = moveTracesFirst(content)
    const bytes =
      typeof content === "string" ? (encoding === "text" ? encoder.encode(content) : bytesOfLatin1(content)) : content
    const room = MAX_OUTPUT_BYTES - this.#size
    this.#append(at, bytes.length > room ? bytes.slice(0, room) : bytes)
    if (bytes.length <= room) return
    this.#append(at, encoder.encode(`\nsimulated machine: killed: more than ${MAX_OUTPUT_BYTES} bytes of output\n`))
    this.isFull = true
    this.#onFull()
  }

  /**
   * Returns the output up to `end`, one chunk for each moment, without the output that jobs wrote after their own end.
   */
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
    return chunks.map(({ at, parts }) => ({ at, bytes: concatenate(parts) }))
  }

  #append(at: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#size += bytes.length
    const last = this.#pieces[this.#pieces.length - 1]
    if (last?.at === at && last.job === this.currentJob) last.parts.push(bytes)
    else this.#pieces.push({ at, job: this.currentJob, parts: [bytes] })
  }
}

/** Returns the bytes of a string in which each character stands for one byte. */
const bytesOfLatin1 = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

const concatenate = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
