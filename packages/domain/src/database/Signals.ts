/**
 * In-process notifications: "the row with this id changed" and "there is work for this reconciler".
 *
 * A notification may be lost (another replica made the change, the process died), so every listener also polls, and
 * only rows decide. Nothing is queued: a notification only says that a
 * listener must look again.
 */
import { Context, Effect, Layer } from "effect"
import type { Scope } from "effect"

/** The topics of notifications. */
export type Topic =
  /** There is work for this reconciler. */
  | "jobs"
  | "machines"
  | "budgets"
  | "videos"
  /** A machine is gone, so a waiting machine may have capacity now. */
  | "capacity"
  /** This job changed. */
  | `job:${string}`
  /** Output of this machine was stored. */
  | `output:${string}`

export class Signals extends Context.Service<
  Signals,
  {
    /** Calls every listener of this topic synchronously. */
    readonly emit: (topic: Topic) => void
    /** Calls `listener` at each emit until the scope closes. */
    readonly listen: (topic: Topic, listener: () => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@sluice/domain/database/Signals") {
  static readonly layer = Layer.sync(Signals, () => {
    const topics = new Map<Topic, Set<() => void>>()
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
