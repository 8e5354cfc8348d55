/**
 * News for all replicas: what a caller caused here is announced by NOTIFY, and every replica's reconcilers wake by LISTEN.
 *
 * Only events from outside are announced (a cancel, a stop, a changed budget): each NOTIFY takes a lock of the whole
 * database at its commit, and what a reconciler causes it goes on with itself. An announcement may be lost, as any news:
 * the poll finds the rows.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Context, Effect, Layer, Option, Queue, Schedule, Schema } from "effect"
import { Replica } from "./Replica.ts"
import { Signals, type Topic } from "./Signals.ts"

const CHANNEL = "sluice_wakeups"

/** Topics that this version doesn't know have no listener. */
const News = Schema.fromJsonString(Schema.Struct({ from: Schema.String, topics: Schema.Array(Schema.String) }))
const newsOf = Schema.decodeUnknownOption(News)

export class Wakeups extends Context.Service<
  Wakeups,
  {
    /** Emits the topics here and on every other replica. Never fails: the rows are written already. */
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

      const listening = Effect.scoped(
        Effect.flatMap(sql.listen(CHANNEL), (queue) =>
          Effect.forever(
            Effect.flatMap(Queue.take(queue), ({ payload }) => {
              const news = newsOf(payload)
              if (Option.isNone(news)) return Effect.logWarning("Another's NOTIFY on our channel is ignored")
              if (news.value.from !== replica.id) emit(news.value.topics as ReadonlyArray<Topic>)
              return Effect.void
            })
          )
        )
      )
      // A connection that breaks is opened again; meanwhile the poll does.
      yield* Effect.forkScoped(Effect.retry(listening, Schedule.spaced(1_000 * replica.scale)))

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
