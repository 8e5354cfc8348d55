/**
 * Counts tokens without holding up the event loop: short texts at once, long ones in a thread of their own.
 *
 * 32,768 characters take up to 9 ms of hostile and 3 ms of ordinary text; what is longer goes to the worker, which is made
 * when first needed, replaced when it dies, and ended with the layer. Interrupted counts are not waited for.
 */
import { Tokens } from "@sluice/domain/inference/Tokens"
import { Effect, Layer } from "effect"
import { Worker } from "node:worker_threads"
import { makeCounter } from "./Tokenizer.ts"

/** Longest text that is counted on the event loop. */
export const INLINE_LENGTH = 32_768

export const layer = Layer.effect(
  Tokens,
  Effect.gen(function* () {
    const thread = new Thread()
    const countText = makeCounter()
    yield* Effect.addFinalizer(() => Effect.promise(() => thread.end()))
    return {
      count: (text: string) => (text.length <= INLINE_LENGTH ? Effect.succeed(countText(text)) : thread.count(text))
    }
  })
)

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
