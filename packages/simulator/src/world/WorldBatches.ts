/**
 * Batches the frequent calls of the world, with one statement at a time for each kind of call. Every batch is
 * idempotent: a key is launched once, stopped once, released once.
 */
import type { GroupCommit } from "@sluice/domain/database/GroupCommit"
import { make as makeGroupCommit } from "@sluice/domain/database/GroupCommit"
import { Clock, Context, Effect, Exit, Layer } from "effect"
import type { Scope } from "effect"
import type { LaunchRecord, NewLaunch } from "./LaunchRecord.ts"
import { WorldStore } from "./WorldStore.ts"

const MAX_ROWS = 256

const makeBatch = <I, O>(
  flush: (items: ReadonlyArray<I>) => Effect.Effect<ReadonlyArray<O>>
): Effect.Effect<GroupCommit<I, O, never>, never, Scope.Scope> =>
  makeGroupCommit({ name: "simulated_world", maxRows: MAX_ROWS, key: () => "" }, (items) =>
    Effect.map(flush(items), (answers) => answers.map(Exit.succeed))
  )

const make = Effect.gen(function* () {
  const store = yield* WorldStore
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()

  const finds = yield* makeBatch((keys: ReadonlyArray<string>) =>
    Effect.map(store.find(keys), (found) => keys.map((key) => found.get(key)))
  )
  const launches = yield* makeBatch((rows: ReadonlyArray<NewLaunch>) => {
    const at = now()
    return Effect.map(store.launch(rows, at), (ordinals) => ordinals.map((ordinal) => ({ ordinal, at })))
  })
  /** The records that were found in the current millisecond. */
  const moment = { at: 0, records: new Map<string, LaunchRecord | undefined>() }
  const find = (key: string): Effect.Effect<LaunchRecord | undefined> =>
    Effect.map(finds.submit(key), (record) => {
      if (moment.at !== now()) moment.records.clear()
      moment.at = now()
      moment.records.set(key, record)
      return record
    })

  const stops = yield* makeBatch(
    Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
      const found = yield* store.find(keys)
      const unknown = keys.filter((key) => !found.has(key))
      if (unknown.length > 0) yield* store.addTombstones(unknown, now())
      const living = [...found.values()].filter((record) => record.stopAt === null)
      if (living.length > 0) yield* store.stop(living, now())
      return keys.map((key) => found.get(key))
    })
  )
  const releases = yield* makeBatch((keys: ReadonlyArray<string>) =>
    Effect.as(
      store.release(keys, now()),
      keys.map(() => undefined)
    )
  )

  return {
    find,
    /**
     * Returns a record for a read of its output. It can be the record that an observation found in the same
     * millisecond.
     */
    recent: (key: string): Effect.Effect<LaunchRecord | undefined> =>
      Effect.suspend(() =>
        moment.at === now() && moment.records.has(key) ? Effect.succeed(moment.records.get(key)) : find(key)
      ),
    /** Returns the ordinal of the new machine, -1 for a known key, null without room; and the time of the launch. */
    launch: launches.submit,
    /** Returns the record from before the stop. A key that was never launched becomes a tombstone. */
    stop: stops.submit,
    release: releases.submit
  }
})

export class WorldBatches extends Context.Service<WorldBatches, Effect.Success<typeof make>>()(
  "@sluice/simulator/world/WorldBatches"
) {
  static readonly layer = Layer.effect(WorldBatches, make)
}
