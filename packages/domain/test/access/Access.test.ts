/** Keys and first starts on both stores (decisions: Running it, Tenancy). */
import { NodeCrypto } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import { Access } from "@sluice/domain/access/Access"
import { AccessStore } from "@sluice/domain/access/AccessStore"
import { ApiKeys } from "@sluice/domain/access/ApiKeys"
import { isWellFormed } from "@sluice/domain/access/ApiKey"
import type { Attempt } from "@sluice/domain/idempotency/Attempt"
import { KeyHash } from "@sluice/domain/access/KeyHash"
import type { Principal } from "@sluice/domain/access/Principal"
import { allScopes } from "@sluice/domain/access/Principal"
import { MAX_PER_KIND } from "@sluice/domain/limits/LimitReached"
import { Workspaces } from "@sluice/domain/access/Workspaces"
import { createHash } from "node:crypto"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"

const hashing = Layer.succeed(KeyHash, { hash: (key) => createHash("sha256").update(key).digest("hex") })
const base = Layer.mergeAll(NodeCrypto.layer, hashing)
const keys = ApiKeys.layer.pipe(Layer.provideMerge(Access.layer))
/** A process with its own cache over the shared database. */
const replica = () => Layer.fresh(Layer.mergeAll(keys, Workspaces.layer)).pipe(Layer.provide(base))

/** `Access` over a store that reports each write of a key's last use. */
const countingTouches = (writes: { begun: number; ended: number }) =>
  Access.layerNoDeps.pipe(
    Layer.provide(
      Layer.effect(
        AccessStore,
        Effect.map(AccessStore, (store) => ({
          ...store,
          touch: (keyId: string, now: Date) => {
            writes.begun += 1
            return Effect.ensuring(
              store.touch(keyId, now),
              Effect.sync(() => void (writes.ended += 1))
            )
          }
        }))
      )
    ),
    Layer.provide(Layer.fresh(AccessStore.layer)),
    Layer.provide(base)
  )

const principalOf = (workspaceId: string): Principal => ({
  workspaceId,
  keyId: workspaceId,
  scopes: allScopes,
  environmentId: workspaceId,
  environmentName: "default",
  rateLimitRpm: 600
})
const START = Date.UTC(2026, 0, 31, 12)

onEveryDatabase("Access", (it) => {
  it.effect("bootstraps once, for any number of concurrent starts", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const start = (key?: string) =>
        Effect.provide(
          Effect.flatMap(Workspaces, (workspaces) =>
            workspaces.bootstrap(key === undefined ? undefined : Redacted.make(key))
          ),
          replica()
        )
      const starts = yield* Effect.all([start(), start(), start(), start()], { concurrency: "unbounded" })
      expect(new Set(starts.map((one) => one.workspaceId)).size).toBe(1)
      const made = starts.flatMap((one) => (one.key === undefined ? [] : [Redacted.value(one.key)]))
      expect(made).toHaveLength(1)
      expect(isWellFormed(made[0]!)).toBe(true)
      for (const table of ["workspaces", "environments", "accounts", "api_keys"]) {
        const [count] = yield* sql.unsafe<{ n: bigint }>(`select count(*) as n from ${table}`)
        expect([table, count!.n]).toEqual([table, 1n])
      }
      expect(yield* start(`svc_live_${"z".repeat(38)}`)).toMatchObject({ key: undefined, keyIgnored: true })
      expect(yield* start(made[0])).toMatchObject({ key: undefined, keyIgnored: false })
      const principal = yield* Effect.provide(
        Effect.flatMap(Access, (access) => access.authenticate(made[0], undefined)),
        replica()
      )
      expect(principal.environmentName).toBe("default")
    })
  )

  it.effect("refuses a disabled key here at once and on another replica within a second", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START)
      const here = yield* Layer.build(replica())
      const there = yield* Layer.build(replica())
      const { workspaceId, key } = yield* Effect.provide(
        Effect.flatMap(Workspaces, (all) => all.bootstrap(undefined)),
        here
      )
      const bearer = Redacted.value(key!)
      const asks = (context: typeof here) =>
        Effect.provide(Effect.exit(Effect.flatMap(Access, (access) => access.authenticate(bearer, undefined))), context)
      expect([(yield* asks(here))._tag, (yield* asks(there))._tag]).toEqual(["Success", "Success"])
      const principal = principalOf(workspaceId)
      yield* Effect.provide(
        Effect.gen(function* () {
          const keys = yield* ApiKeys
          const page = yield* keys.list(principal, { limit: 10, after: undefined })
          yield* keys.update(principal, page.items[0]!.id, {
            name: undefined,
            rateLimitRpm: undefined,
            status: "inactive"
          })
        }),
        here
      )
      expect((yield* asks(here))._tag).toBe("Failure")
      yield* TestClock.adjust("999 millis")
      expect((yield* asks(there))._tag).toBe("Failure")
    }).pipe(Effect.scoped)
  )

  it.effect("bounds a workspace's number of keys, a retry of the last one included", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { workspaceId } = yield* Effect.flatMap(Workspaces, (all) => all.bootstrap(undefined))
      const keys = yield* ApiKeys
      const last = "01890a5d-ac96-774b-bcce-b302099a8050"
      const attempt = { id: last, isRetry: false, key: "k", lockedUntil: new Date(START) }
      yield* sql`insert into idempotency_keys (workspace_id, key, request_hash, attempt_id, locked_until, created_at)
        values (${workspaceId}, 'k', '\\x00', ${last}, ${new Date(START)}::timestamptz, ${new Date(0)}::timestamptz)`
      const create = (attempt?: Attempt) =>
        keys.create(
          principalOf(workspaceId),
          { name: "one more", scopes: null, environmentId: null, rateLimitRpm: undefined },
          attempt
        )
      yield* sql`insert into api_keys (id, workspace_id, name, prefix, hash, status, rate_limit_rpm, created_at)
        select gen_random_uuid(), ${workspaceId}, 'k', 'p', decode(md5(n::text), 'hex'), 'active', 1, now()
        from generate_series(1, ${MAX_PER_KIND - 2}) as n`
      expect((yield* create(attempt)).apiKey.id).toBe(last)
      const standing = yield* create({ ...attempt, isRetry: true })
      expect(standing.apiKey.id).toBe(last)
      // An overtaken run changes no secret that another run returns.
      const overtaken = { ...attempt, lockedUntil: new Date(START - 1) }
      expect((yield* Effect.flip(create(overtaken)))._tag).toBe("IdempotencyInProgress")
      yield* (yield* Access).authenticate(Redacted.value(standing.key), undefined)
      expect(yield* Effect.flip(create())).toMatchObject({ _tag: "LimitReached", kind: "API keys" })
      yield* keys.remove(principalOf(workspaceId), last)
      expect((yield* create()).apiKey.name).toBe("one more")
    }).pipe(Effect.provide(replica()))
  )

  it.effect("writes the last use of a key once a minute", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START)
      const sql = yield* SqlClient.SqlClient
      const writes = { begun: 0, ended: 0 }
      const access = yield* Effect.provide(Access, yield* Layer.build(countingTouches(writes)))
      const { key } = yield* Effect.provide(
        Effect.flatMap(Workspaces, (all) => all.bootstrap(undefined)),
        replica()
      )
      const used = (at: number) =>
        Effect.gen(function* () {
          yield* TestClock.setTime(START + at)
          yield* access.authenticate(Redacted.value(key!), undefined)
          // Written in the background, started before the answer.
          yield* Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve))).pipe(
            Effect.repeat({ until: () => writes.ended === writes.begun })
          )
          const [row] = yield* sql<{ at: Date | null }>`select last_used_at as at from api_keys`
          return row!.at === null ? null : row!.at.getTime() - START
        })
      expect(yield* used(0)).toBe(0)
      expect(yield* used(2_000)).toBe(0)
      expect(yield* used(59_000)).toBe(0)
      expect(yield* used(61_000)).toBe(61_000)
      expect(writes.begun).toBe(2)
    }).pipe(Effect.scoped)
  )
})
