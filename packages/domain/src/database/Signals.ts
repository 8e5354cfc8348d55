/**
 * In-process news: "the row with this id changed" and "there is work for this reconciler".
 *
 * News may be lost (another replica made the change, the process died): whoever waits also looks again after a while, and
 * rows alone decide. Nothing is queued: a listener that is already awake learns nothing new.
 */
import { Context, Effect, Layer } from "effect"
import type { Scope } from "effect"

export class Signals extends Context.Service<
  Signals,
  {
    /** Calls every listener of this topic, at once. */
    readonly emit: (topic: string) => void
    /** Calls `listener` at each emit until the scope closes. */
    readonly listen: (topic: string, listener: () => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@sluice/domain/database/Signals") {
  static readonly layer = Layer.sync(Signals, () => {
    const topics = new Map<string, Set<() => void>>()
    return Signals.of({
      emit: (topic) => topics.get(topic)?.forEach((listener) => listener()),
      listen: (topic, listener) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const listeners = topics.get(topic) ?? new Set()
            listeners.add(listener)
            topics.set(topic, listeners)
          }),
          () =>
            Effect.sync(() => {
              const listeners = topics.get(topic)
              listeners?.delete(listener)
              if (listeners?.size === 0) topics.delete(topic)
            })
        )
    })
  })
}
