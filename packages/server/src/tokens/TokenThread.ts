/**
 * The server's side of the token thread. The thread is created on first use, replaced when it dies (the waiting counts
 * fail), and ended with the server. The count of an interrupted caller is dropped in the thread at once.
 */
import { Effect } from "effect"
import { Worker } from "node:worker_threads"
import type { Done } from "./Rotation.ts"

/** Counting texts, or finding the longest prefix of a text that fits. */
export type TokenTask =
  | { readonly texts: ReadonlyArray<string>; readonly limit: number; readonly limitOfAll: number }
  | { readonly text: string; readonly limit: number }

export type TokenAnswer = ReadonlyArray<number> | string

/** `task` undefined: the task with this id is dropped. */
export interface TokenMessage {
  readonly id: number
  readonly caller: string
  readonly task: TokenTask | undefined
}

export class TokenThread {
  #worker: Worker | undefined
  #lastId = 0
  readonly #waiting = new Map<number, (answer: Effect.Effect<never>) => void>()

  count(
    caller: string,
    texts: ReadonlyArray<string>,
    limit: number,
    limitOfAll = Number.POSITIVE_INFINITY
  ): Effect.Effect<ReadonlyArray<number>> {
    return this.#ask(caller, { texts, limit, limitOfAll })
  }

  fit(caller: string, text: string, limit: number): Effect.Effect<string> {
    return this.#ask(caller, { text, limit })
  }

  async end(): Promise<void> {
    await this.#worker?.terminate()
  }

  /** `A`: the type of the thread's answer to this task. */
  #ask<A extends TokenAnswer>(caller: string, task: TokenTask): Effect.Effect<A> {
    return Effect.callback<A>((resume) => {
      const id = ++this.#lastId
      this.#waiting.set(id, resume)
      this.#post({ id, caller, task })
      return Effect.sync(() => {
        if (this.#waiting.delete(id)) this.#post({ id, caller, task: undefined })
      })
    })
  }

  #post(message: TokenMessage): void {
    this.#worker ??= this.#spawn()
    this.#worker.postMessage(message)
  }

  #spawn(): Worker {
    const worker = new Worker(new URL("./TokenWorker.ts", import.meta.url))
    worker.unref()
    worker.on("message", ({ answer, id }: Done<never>) => {
      const resume = this.#waiting.get(id)
      this.#waiting.delete(id)
      resume?.(Effect.succeed(answer))
    })
    const onDeath = (cause: unknown) => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      const lost = [...this.#waiting.values()]
      this.#waiting.clear()
      for (const resume of lost) resume(Effect.die(cause))
    }
    worker.on("error", onDeath)
    worker.on("exit", (code) => onDeath(new Error(`The token worker ended with code ${code}`)))
    return worker
  }
}
