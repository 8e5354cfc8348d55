/**
 * What goes where: data to standard output, talk to standard error, and one line of progress that is redrawn in place.
 * Nothing is redrawn, coloured or asked where there is no terminal. With `--json` both carry JSON alone: standard
 * error what went wrong, and no talk.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Facts } from "./Facts.ts"

export class Output extends Context.Service<
  Output,
  {
    /** `--json` was given. */
    readonly json: boolean
    /** Progress can be redrawn: standard error is a terminal that knows how. */
    readonly live: boolean
    /** Somebody can be asked: standard input and standard error are a terminal. */
    readonly interactive: boolean
    /** Bytes to standard output as they are; returns when the reader has room. */
    readonly data: (bytes: string | Uint8Array) => Effect.Effect<void>
    /** One answer: a line of JSON, or the text that `render` makes of it. */
    readonly answer: <A>(value: A, render: (value: A) => string) => Effect.Effect<void>
    /** One event of a stream; only with `--json`. */
    readonly event: (value: { readonly event: string }) => Effect.Effect<void>
    /** What went wrong, on standard error: a line of JSON, or the text. */
    readonly fail: (error: object, text: string) => Effect.Effect<void>
    /** A line of talk on standard error; none with `--json`. */
    readonly say: (line: string) => Effect.Effect<void>
    /** Replaces the line of progress; an empty text takes it away. Nothing without a terminal. */
    readonly progress: (text: string) => Effect.Effect<void>
  }
>()("@sluice/cli/terminal/Output") {
  static readonly layer = (facts: Facts, streams: Streams): Layer.Layer<Output> =>
    Layer.sync(Output, () => {
      let shown = ""
      let column0 = true
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
          column0 = !facts.stdoutTerminal || last === "\n"
          return Effect.andThen(hide(), write(streams.out, bytes))
        })
      const told = (text: string) =>
        Effect.suspend(() => {
          const fresh = column0 ? "" : "\n"
          column0 = true
          return Effect.andThen(hide(), talk(`${fresh}${text}\n`))
        })
      const line = (value: unknown) => data(`${JSON.stringify(value)}\n`)
      return Output.of({
        json: facts.json,
        live: facts.live,
        interactive: facts.interactive,
        data,
        answer: (value, render) => (facts.json ? line(value) : data(`${render(value)}\n`)),
        event: (value) => (facts.json ? line(value) : Effect.void),
        fail: (error, text) => told(facts.json ? JSON.stringify({ error }) : text),
        say: (text) => (facts.json ? Effect.void : told(text)),
        progress: (text) =>
          Effect.suspend(() => {
            // Output that stopped within a line owns that line.
            if (!facts.live || !column0 || text === shown) return Effect.void
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
    // What can't be written ends the process where the stream's `error` is heard, which comes after this: nothing goes on.
    stream.write(bytes, (error) => {
      if (!error) resume(Effect.void)
    })
  })
