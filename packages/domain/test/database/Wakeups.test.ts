/** Wake-ups between replicas: an announcement on one wakes the others, and other traffic on the channel wakes none. */
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Replica } from "@sluice/domain/database/Replica"
import { Signals } from "@sluice/domain/database/Signals"
import { Wakeups } from "@sluice/domain/database/Wakeups"
import { Context, Deferred, Effect, Layer } from "effect"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"

const replica = Wakeups.layer.pipe(
  Layer.provideMerge(Signals.layer),
  Layer.provideMerge(Replica.layer({ speed: 1 })),
  Layer.provide(NodeServices.layer)
)

onEveryDatabase(
  "Wakeups",
  (it) => {
    it.effect("wake-ups reach every replica", () =>
      Effect.gen(function* () {
        const [a, b] = [yield* Layer.build(Layer.fresh(replica)), yield* Layer.build(Layer.fresh(replica))]
        const sql = yield* PgClient.PgClient
        let heard = Deferred.makeUnsafe<void>()
        const other = { count: 0 }
        yield* Context.get(b, Signals).listen("jobs", () => Deferred.doneUnsafe(heard, Effect.void))
        yield* Context.get(b, Signals).listen("machines", () => void other.count++)
        // The listener registers in the background: the announcement repeats until it arrives.
        const announcing = Effect.forever(
          Effect.andThen(Context.get(a, Wakeups).announce("jobs"), Effect.sleep("20 millis"))
        )
        yield* Effect.raceFirst(announcing, Deferred.await(heard))
        for (const payload of ["no news", "null", '{"from":1}', '{"from":"x","topics":[1]}']) {
          yield* sql.notify("sluice_wakeups", payload)
        }
        // Queued announcements arrive, and later ones too.
        yield* Context.get(a, Wakeups).announce("jobs")
        yield* Effect.sleep("50 millis")
        heard = Deferred.makeUnsafe<void>()
        yield* Effect.raceFirst(announcing, Deferred.await(heard))
        assert.strictEqual(other.count, 0)
      }).pipe(Effect.scoped)
    )
  },
  { live: true }
)
