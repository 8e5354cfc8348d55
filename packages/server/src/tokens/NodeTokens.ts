/**
 * Counts tokens without holding up the event loop: short texts at once, long ones in a thread of their own.
 *
 * 32,768 characters take up to 9 ms of hostile and 3 ms of ordinary text; what is longer goes to the worker, which is made
 * when first needed, replaced when it dies, and ended with the layer. Interrupted counts are not waited for.
 * The vocabulary takes a tenth of a second to load, so that is done at the first count, or while something else is waited
 * for: whoever builds `loaded` along with what takes long has it for nothing.
 */
import { Tokens } from "@sluice/domain/inference/Tokens"
import { Effect, Layer } from "effect"
import { Worker } from "node:worker_threads"
import type { Tokenizer } from "./Tokenizer.ts"

/** Longest text that is counted on the event loop. */
export const INLINE_LENGTH = 32_768

/** What the worker is asked: a count, or where `limit` is given the beginning with so many tokens. */
export interface TokenQuestion {
  readonly id: number
  readonly text: string
  readonly limit?: number | undefined
}

/** Counts with what `given` makes, or with the tokenizer, which it loads at the first count. */
export const layerWith = (given: (() => Tokenizer) | undefined): Layer.Layer<Tokens> =>
  Layer.effect(
    Tokens,
    Effect.gen(function* () {
      let tokenizer = given?.()
      const thread = new Thread()
      yield* Effect.addFinalizer(() => Effect.promise(() => thread.end()))
      const first = Effect.map(load, (makeTokenizer) => (tokenizer ??= makeTokenizer()))
      return {
        count: (text: string) => {
          if (text.length > INLINE_LENGTH) return thread.ask<number>(text)
          return tokenizer === undefined
            ? Effect.map(first, ({ count }) => count(text))
            : Effect.succeed(tokenizer.count(text))
        },
        fit: (text: string, limit: number) => {
          if (text.length > INLINE_LENGTH) return thread.ask<string>(text, limit)
          return tokenizer === undefined
            ? Effect.map(first, ({ fit }) => fit(text, limit))
            : Effect.succeed(tokenizer.fit(text, limit))
        }
      }
    })
  )

export const layer = layerWith(undefined)

const load = Effect.promise(async () => (await import("./Tokenizer.ts")).makeTokenizer)

export const loaded = Layer.effectDiscard(load)

class Thread {
  private worker: Worker | undefined
  private lastId = 0
  private readonly waiting = new Map<number, (answer: Effect.Effect<never>) => void>()

  /** `A`: a number for a count, a text for what fits. */
  ask<A extends number | string>(text: string, limit?: number): Effect.Effect<A> {
    return Effect.callback<A>((resume) => {
      const question: TokenQuestion = { id: ++this.lastId, text, limit }
      const { id } = question
      this.waiting.set(id, resume)
      this.start().postMessage(question)
      return Effect.sync(() => this.waiting.delete(id))
    })
  }

  async end(): Promise<void> {
    await this.worker?.terminate()
  }

  private start(): Worker {
    if (this.worker !== undefined) return this.worker
    const worker = new Worker(new URL("./TokenWorker.ts", import.meta.url))
    worker.unref()
    worker.on("message", ({ answer, id }: { readonly id: number; readonly answer: never }) => {
      const resume = this.waiting.get(id)
      this.waiting.delete(id)
      resume?.(Effect.succeed(answer))
    })
    const fail = (cause: unknown) => {
      if (this.worker !== worker) return
      this.worker = undefined
      const lost = [...this.waiting.values()]
      this.waiting.clear()
      for (const resume of lost) resume(Effect.die(cause))
    }
    worker.on("error", fail)
    worker.on("exit", (code) => fail(new Error(`The token worker ended with code ${code}`)))
    this.worker = worker
    return worker
  }
}
