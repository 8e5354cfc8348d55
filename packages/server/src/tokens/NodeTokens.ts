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

type CountText = (text: string) => number

/** Longest text that is counted on the event loop. */
export const INLINE_LENGTH = 32_768

/** Counts with what `given` makes, or with the tokenizer, which it loads at the first count. */
export const layerWith = (given: (() => CountText) | undefined): Layer.Layer<Tokens> =>
  Layer.effect(
    Tokens,
    Effect.gen(function* () {
      let counter = given?.()
      const thread = new Thread()
      yield* Effect.addFinalizer(() => Effect.promise(() => thread.end()))
      const first = (text: string) =>
        Effect.map(load, (makeCounter) => {
          counter ??= makeCounter()
          return counter(text)
        })
      return {
        count: (text: string) => {
          if (text.length > INLINE_LENGTH) return thread.count(text)
          return counter === undefined ? first(text) : Effect.succeed(counter(text))
        }
      }
    })
  )

export const layer = layerWith(undefined)

const load = Effect.promise(async () => (await import("./Tokenizer.ts")).makeCounter)

export const loaded = Layer.effectDiscard(load)

class Thread {
  private worker: Worker | undefined
  private lastId = 0
  private readonly waiting = new Map<number, (answer: Effect.Effect<number>) => void>()

  count(text: string): Effect.Effect<number> {
    return Effect.callback<number>((resume) => {
      const id = ++this.lastId
      this.waiting.set(id, resume)
      this.start().postMessage({ id, text })
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
    worker.on("message", ({ id, tokens }: { readonly id: number; readonly tokens: number }) => {
      const resume = this.waiting.get(id)
      this.waiting.delete(id)
      resume?.(Effect.succeed(tokens))
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
