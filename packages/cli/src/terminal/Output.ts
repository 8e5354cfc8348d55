/**
 * Writes data to standard output, messages to standard error, and one progress line that is redrawn in place. Without a
 * terminal nothing is redrawn, coloured or asked. With `--json` both streams carry JSON alone: standard error carries
 * failures, and no other messages.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Facts } from "./Facts.ts"

export class Output extends Context.Service<
  Output,
  {
    /** `--json` was given. */
    readonly isJson: boolean
    /** Progress can be redrawn: standard error is a terminal with cursor control, and `--json` is not set. */
    readonly isLive: boolean
    /** Questions can be asked: standard input and standard error are terminals. */
    readonly isInteractive: boolean
    /** Writes bytes to standard output unchanged; returns when the stream has accepted them (backpressure). */
    readonly data: (bytes: string | Uint8Array) => Effect.Effect<void>
    /** Writes one answer: a line of JSON, or the text that `render` returns. */
    readonly answer: <A>(value: A, render: (value: A) => string) => Effect.Effect<void>
    /** Writes one event of a stream; does nothing without `--json`. */
    readonly event: (value: { readonly event: string }) => Effect.Effect<void>
    /** Writes a failure to standard error: a line of JSON, or the text. */
    readonly fail: (error: object, text: string) => Effect.Effect<void>
    /** Writes a message line to standard error; does nothing with `--json`. */
    readonly say: (line: string) => Effect.Effect<void>
    /** Replaces the progress line; an empty text removes it. Does nothing without a terminal. */
    readonly progress: (text: string) => Effect.Effect<void>
  }
>()("@sluice/cli/terminal/Output") {
  static readonly layer = (facts: Facts, streams: Streams): Layer.Layer<Output> =>
    Layer.sync(Output, () => {
      let shown = ""
      let isLineStart = true
      const talk = (text: string) => write(streams.err, text)
      const hide = () => {
        if (shown === "") return Effect.void
        shown = ""
        return talk("\r\x1b[K")
      }
      const data = (bytes: string | Uint8Array) =>
        Effect.suspend(() => {
          if (bytes.length === 0) return Effect.void
          const last = typeof bytes === "string" ? bytes.at(-1) : bytes.at(-1) === NEWLINE ? "\n" : ""
          isLineStart = !facts.isStdoutTerminal || last === "\n"
          return Effect.andThen(hide(), write(streams.out, bytes))
        })
      const writeLine = (text: string) =>
        Effect.suspend(() => {
          const fresh = isLineStart ? "" : "\n"
          isLineStart = true
          return Effect.andThen(hide(), talk(`${fresh}${text}\n`))
        })
      const line = (value: unknown) => data(`${JSON.stringify(value)}\n`)
      return Output.of({
        isJson: facts.isJson,
        isLive: facts.isLive,
        isInteractive: facts.isInteractive,
        data,
        answer: (value, render) => (facts.isJson ? line(value) : data(`${render(value)}\n`)),
        event: (value) => (facts.isJson ? line(value) : Effect.void),
        fail: (error, text) => writeLine(facts.isJson ? JSON.stringify({ error }) : text),
        say: (text) => (facts.isJson ? Effect.void : writeLine(text)),
        progress: (text) =>
          Effect.suspend(() => {
            // Output that stopped within a line keeps that line: progress must not overwrite it.
            if (!facts.isLive || !isLineStart || text === shown) return Effect.void
            shown = text
            return talk(`\r${text.slice(0, Math.max(0, facts.columns - 1))}\x1b[K`)
          })
      })
    })
}

export interface Streams {
  readonly out: NodeJS.WritableStream
  readonly err: NodeJS.WritableStream
}

const NEWLINE = 0x0a

const write = (stream: NodeJS.WritableStream, bytes: string | Uint8Array): Effect.Effect<void> =>
  Effect.callback((resume) => {
    // A failed write never resumes: the `error` listener of the stream runs next and ends the process.
    stream.write(bytes, (error) => {
      if (!error) resume(Effect.void)
    })
  })
