/**
 * Authenticates a request: a bearer key and a chosen environment become a `Principal`. Unknown, inactive and deleted
 * keys give one error.
 *
 * A found principal is cached for less than 1 s, so a deactivated key fails on every replica within 1 s; a failed
 * look-up is never cached. A malformed key is refused without a look-up. A cached principal costs one map access,
 * because every request is authenticated here.
 */
import { Cache, Clock, Context, Duration, Effect, Layer } from "effect"
import { EnvironmentNotFound } from "../environments/Environment.ts"
import { KeyInvalid } from "./AccessErrors.ts"
import { AccessStore, TOUCH_AFTER_MS } from "./AccessStore.ts"
import { isWellFormed } from "./ApiKey.ts"
import { KeyHash } from "./KeyHash.ts"
import type { Principal } from "./Principal.ts"
import { allScopes } from "./Principal.ts"

/** Lifetime of a cached principal (ms; decisions: a deactivated key fails on every replica within 1 s). */
const CACHED_MS = 900
const MAX_PRINCIPALS = 10_000

export class Access extends Context.Service<
  Access,
  {
    /** `environment`: an id or a name; undefined selects the key's own default. */
    readonly authenticate: (
      bearer: string | undefined,
      environment: string | undefined
    ) => Effect.Effect<Principal, KeyInvalid | EnvironmentNotFound>
    /** Empties the cache, so that a changed key takes effect on this replica at once. */
    readonly forget: Effect.Effect<void>
  }
>()("@sluice/domain/access/Access") {
  static readonly layerNoDeps = Layer.effect(
    Access,
    Effect.gen(function* () {
      const store = yield* AccessStore
      const { hash } = yield* KeyHash
      const scope = yield* Effect.scope
      const clock = yield* Clock.Clock

      const lookup = Effect.fnUntraced(function* (cacheKey: string) {
        const environment = cacheKey.length > HASH_LENGTH ? cacheKey.slice(HASH_LENGTH) : undefined
        const now = clock.currentTimeMillisUnsafe()
        const row = yield* store.find(cacheKey.slice(0, HASH_LENGTH), environment)
        if (row === undefined) return yield* new KeyInvalid()
        if (row.environmentId === null || row.environmentName === null) {
          return yield* new EnvironmentNotFound({ environment: environment ?? "" })
        }
        if (row.lastUsedAt === null || now - row.lastUsedAt.getTime() >= TOUCH_AFTER_MS) {
          yield* Effect.forkIn(store.touch(row.keyId, new Date(now)), scope)
        }
        const principal: Principal = {
          workspaceId: row.workspaceId,
          keyId: row.keyId,
          scopes: row.scopes ?? allScopes,
          environmentId: row.environmentId,
          environmentName: row.environmentName,
          rateLimitRpm: row.rateLimitRpm
        }
        return { principal, until: now + CACHED_MS }
      })
      /**
       * Merges look-ups of one key that run at the same time. This cache keeps no results (time to live 0); `cached`
       * does.
       */
      const lookups = yield* Cache.make({ lookup, capacity: MAX_PRINCIPALS, timeToLive: Duration.zero })

      const cached = new Map<string, CachedPrincipal>()
      let generation = 0

      const find = (cacheKey: string) => {
        const found = cached.get(cacheKey)
        const now = clock.currentTimeMillisUnsafe()
        // If the clock steps back, an entry must not be trusted for longer.
        if (found !== undefined && now < found.until && now >= found.until - CACHED_MS) {
          return Effect.succeed(found.principal)
        }
        const generationBefore = generation
        return Effect.map(Cache.get(lookups, cacheKey), (entry) => {
          if (cached.size >= MAX_PRINCIPALS) cached.clear()
          // A look-up that began before a change of keys may have read the old state: its result is not cached.
          if (generationBefore === generation) cached.set(cacheKey, entry)
          return entry.principal
        })
      }

      return Access.of({
        authenticate: (bearer, environment) => {
          if (bearer === undefined || !isWellFormed(bearer)) return Effect.fail(new KeyInvalid())
          if (environment === undefined) return find(hash(bearer))
          // An unknown key must get the same error for every environment name, so an impossible name is looked up too.
          return find(hash(bearer) + (isNameable(environment) ? environment : UNNAMEABLE))
        },
        forget: Effect.suspend(() => {
          generation++
          cached.clear()
          return Cache.invalidateAll(lookups)
        })
      })
    })
  )

  static readonly layer = Access.layerNoDeps.pipe(Layer.provide(AccessStore.layer))
}

interface CachedPrincipal {
  readonly principal: Principal
  /** End of the cache entry (ms of the service's clock), counted from before the look-up. */
  readonly until: number
}

const HASH_LENGTH = 64
/** Longer than any name, so no environment has this name. */
const UNNAMEABLE = "-".repeat(100)
const isNameable = (text: string) =>
  text.length > 0 && text.length <= 63 && !/\p{Cc}/u.test(text) && text.isWellFormed()
