/** Rights of a key: the environment of its requests, and the bounds of its workspace on every change (decisions: Tenancy). */
import { NodeCrypto } from "@effect/platform-node"
import { expect } from "@effect/vitest"
import { Access } from "@sluice/domain/access/Access"
import { ApiKeys, type KeyRequest } from "@sluice/domain/access/ApiKeys"
import { KeyHash } from "@sluice/domain/access/KeyHash"
import { allScopes, type Principal } from "@sluice/domain/access/Principal"
import { Workspaces } from "@sluice/domain/access/Workspaces"
import { MAX_PER_KIND } from "@sluice/domain/limits/LimitReached"
import { createHash } from "node:crypto"
import { Crypto, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { onEveryDatabase } from "@sluice/testing/engines/Databases"

const hashing = Layer.succeed(KeyHash, { hash: (key) => createHash("sha256").update(key).digest("hex") })
const TestLayer = Layer.mergeAll(ApiKeys.layer.pipe(Layer.provideMerge(Access.layer)), Workspaces.layer).pipe(
  Layer.provide(hashing),
  Layer.provideMerge(NodeCrypto.layer)
)
const page = { limit: 10, after: undefined }
const plain: KeyRequest = { name: "k", scopes: null, environmentId: null, rateLimitRpm: undefined }

/** A workspace with its key; `environment` adds an environment of that name. */
const workspace = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const access = yield* Access
  const workspaces = yield* Workspaces
  const workspaceId = yield* workspaces.create(name)
  const key = yield* workspaces.createKey(workspaceId, "first")
  const principal = yield* access.authenticate(Redacted.value(key), undefined)
  const environment = Effect.fnUntraced(function* (called: string, given?: string) {
    const id = given ?? (yield* (yield* Crypto.Crypto).randomUUIDv7())
    yield* sql`insert into environments (id, workspace_id, name, is_default, month, created_at, wake_at)
      values (${id}, ${workspaceId}, ${called}, false, '2026-01-01', now(), now())`
    return id
  })
  return { environment, principal }
})

const create = Effect.fnUntraced(function* (principal: Principal, more: Partial<KeyRequest>) {
  yield* TestClock.adjust(1)
  const { apiKey, key } = yield* (yield* ApiKeys).create(principal, { ...plain, ...more }, undefined)
  return { apiKey, bearer: Redacted.value(key) }
})

onEveryDatabase("A key", (it) => {
  it.effect(
    "works in the requested environment, else in its own, else in the default one, and never in a foreign one",
    () =>
      Effect.gen(function* () {
        const access = yield* Access
        const { environment, principal } = yield* workspace("one")
        const other = yield* workspace("other")
        const lab = yield* environment("lab")
        const theirs = yield* other.environment("theirs")
        const free = yield* create(principal, {})
        const bound = yield* create(principal, { environmentId: lab })
        const of = (bearer: string, environment?: string) =>
          Effect.map(access.authenticate(bearer, environment), ({ environmentId }) => environmentId)
        expect(yield* of(free.bearer)).toBe(principal.environmentId)
        expect(yield* of(bound.bearer)).toBe(lab)
        for (const { bearer } of [free, bound]) {
          for (const said of ["lab", lab, lab.toUpperCase()]) expect(yield* of(bearer, said)).toBe(lab)
          expect(yield* of(bearer, "default")).toBe(principal.environmentId)
          for (const said of ["theirs", theirs, "Lab", "", "nowhere"]) {
            expect((yield* Effect.flip(of(bearer, said)))._tag, said).toBe("EnvironmentNotFound")
          }
        }
        // When one environment's name equals another's id, the id wins, in any order.
        for (const [called, isFirst] of [
          ["a", true],
          ["+a", true],
          ["b", false],
          ["+b", false]
        ] as const) {
          const id = yield* (yield* Crypto.Crypto).randomUUIDv7()
          if (isFirst) yield* environment(called, id)
          const named = yield* environment(id)
          if (!isFirst) yield* environment(called, id)
          expect([yield* of(free.bearer, id), yield* of(free.bearer, named)]).toEqual([id, named])
        }
        const misplaced = yield* Effect.flip(
          (yield* ApiKeys).create(principal, { ...plain, environmentId: theirs }, undefined)
        )
        expect(misplaced._tag).toBe("EnvironmentNotFound")
      }).pipe(Effect.provide(TestLayer))
  )

  it.effect("is changed only in the given fields, and only by its own workspace", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const keys = yield* ApiKeys
      const access = yield* Access
      const { principal } = yield* workspace("one")
      const other = yield* workspace("other")
      const { apiKey, bearer } = yield* create(principal, { scopes: ["jobs:read"] })
      const same = { name: undefined, status: undefined, rateLimitRpm: undefined }
      for (const [change, after] of [
        [{ name: "renamed" }, { name: "renamed", rateLimitRpm: 600, status: "active" }],
        [{ rateLimitRpm: 7 }, { name: "renamed", rateLimitRpm: 7, status: "active" }],
        [{ status: "inactive" as const }, { name: "renamed", rateLimitRpm: 7, status: "inactive" }],
        [{ status: "active" as const }, { name: "renamed", rateLimitRpm: 7, status: "active" }]
      ] as const) {
        expect(yield* keys.update(principal, apiKey.id, { ...same, ...change })).toMatchObject(after)
      }
      expect(yield* access.authenticate(bearer, undefined)).toMatchObject({ rateLimitRpm: 7, scopes: ["jobs:read"] })
      const stolen = { ...same, name: "stolen" }
      expect((yield* Effect.flip(keys.update(other.principal, apiKey.id, stolen)))._tag).toBe("ApiKeyNotFound")
      expect((yield* Effect.flip(keys.remove(other.principal, apiKey.id)))._tag).toBe("ApiKeyNotFound")
      // A request whose attempt has the id of a foreign key changes nothing.
      const attempt = { id: apiKey.id, isRetry: true, key: "k", lockedUntil: new Date(0) }
      yield* sql`insert into idempotency_keys (workspace_id, key, request_hash, attempt_id, locked_until, created_at)
        values (${other.principal.workspaceId}, 'k', '\\x00', ${apiKey.id}, ${new Date(0)}::timestamptz, ${new Date(0)}::timestamptz)`
      expect((yield* Effect.exit(keys.create(other.principal, plain, attempt)))._tag).toBe("Failure")
      expect((yield* access.authenticate(bearer, undefined)).keyId).toBe(apiKey.id)
      const listed = yield* keys.list(principal, page)
      expect([listed.total, listed.items.map(({ name }) => name)]).toEqual([2, ["renamed", "first"]])
      yield* keys.remove(principal, apiKey.id)
      expect((yield* Effect.flip(access.authenticate(bearer, undefined)))._tag).toBe("KeyInvalid")
    }).pipe(Effect.provide(TestLayer))
  )

  it.effect("has at most its creator's rights, and all of them as a default", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const access = yield* Access
      const { principal } = yield* workspace("one")
      const other = yield* workspace("other")
      const limited: Principal = { ...principal, scopes: ["keys:write", "jobs:read"] }
      const scopesOf = Effect.fnUntraced(function* (maker: Principal, more: Partial<KeyRequest>) {
        const { bearer } = yield* create(maker, more)
        return (yield* access.authenticate(bearer, undefined)).scopes
      })
      expect(yield* scopesOf(principal, {})).toEqual(allScopes)
      expect(yield* scopesOf(limited, {})).toEqual(["keys:write", "jobs:read"])
      expect(yield* scopesOf(limited, { scopes: ["jobs:read"] })).toEqual(["jobs:read"])
      const stronger = yield* Effect.flip(create(limited, { scopes: ["jobs:read", "jobs:write"] }))
      expect(stronger).toMatchObject({ _tag: "ScopeMissing", scope: "jobs:write" })
      // The other workspace has as many as it may have.
      yield* sql`insert into api_keys (id, workspace_id, name, prefix, hash, status, rate_limit_rpm, created_at)
        select gen_random_uuid(), ${other.principal.workspaceId}, 'k', 'p', decode(md5(n::text), 'hex'), 'active', 1, now()
        from generate_series(1, ${MAX_PER_KIND}) as n`
      expect((yield* Effect.flip(create(other.principal, {})))._tag).toBe("LimitReached")
      expect((yield* create(principal, {})).apiKey.name).toBe("k")
    }).pipe(Effect.provide(TestLayer))
  )
})
