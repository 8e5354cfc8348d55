/**
 * Notifications for all replicas: this replica announces an event by NOTIFY, and the reconcilers of every replica wake
 * by LISTEN.
 *
 * Only events from outside are announced (a cancel, a stop, a changed budget). Each NOTIFY takes a lock of the whole
 * database at its commit, and a reconciler needs no notification of its own changes. An announcement may be lost; the
 * poll finds the rows then.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Context, Effect, Layer, Option, Queue, Schedule, Schema } from "effect"
import { Replica } from "./Replica.ts"
import { Signals, type Topic } from "./Signals.ts"

const CHANNEL = "sluice_wakeups"

/** Topics that this version does not know have no listener. */
const Announcement = Schema.fromJsonString(Schema.Struct({ from: Schema.String, topics: Schema.Array(Schema.String) }))
const decodeAnnouncement = Schema.decodeUnknownOption(Announcement)

export class Wakeups extends Context.Service<
  Wakeups,
  {
    /** Notifies the listeners here and on every other replica. Never fails: the rows are committed already. */
    readonly announce: (...topics: ReadonlyArray<Topic>) => Effect.Effect<void>
  }
>()("@sluice/domain/database/Wakeups") {
  static readonly layer = Layer.effect(
    Wakeups,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const signals = yield* Signals
      const replica = yield* Replica
      const emit = (topics: ReadonlyArray<Topic>) => topics.forEach((topic) => signals.emit(topic))

      const listen = Effect.scoped(
        Effect.flatMap(sql.listen(CHANNEL), (queue) =>
          Effect.forever(
            Effect.flatMap(Queue.take(queue), ({ payload }) => {
              const announcement = decodeAnnouncement(payload)
              if (Option.isNone(announcement))
                return Effect.logWarning(`Ignored a NOTIFY on channel ${CHANNEL}: its payload is not an announcement`)
              if (announcement.value.from !== replica.id) emit(announcement.value.topics as ReadonlyArray<Topic>)
              return Effect.void
            })
          )
        )
      )
      // A broken connection is opened again after a pause; meanwhile the poll finds due rows.
      yield* Effect.forkScoped(Effect.retry(listen, Schedule.spaced(1_000 * replica.scale)))

      return Wakeups.of({
        announce: (...topics) =>
          Effect.suspend(() => {
            emit(topics)
            return Effect.ignore(sql.notify(CHANNEL, JSON.stringify({ from: replica.id, topics })))
          })
      })
    })
  )
}
