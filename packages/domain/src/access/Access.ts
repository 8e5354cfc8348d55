/**
 * Who asks: a bearer key and a chosen environment become a `Principal`. Unknown, inactive and deleted keys are one error.
 *
 * What was found is trusted for less than a second, so a key that is switched off fails on every replica within one; what
 * was not found is never remembered. A malformed key is refused before any look-up. A caller that is known costs one look
 * into a map: every request passes here.
 */
import { Cache, Clock, Context, Duration, Effect, Layer } from "effect"
import { EnvironmentNotFound } from "../environments/Environment.ts"
import { KeyInvalid } from "./AccessErrors.ts"
import { AccessStore, TOUCH_AFTER_MS } from "./AccessStore.ts"
import { isWellFormed } from "./ApiKey.ts"
import { KeyHash } from "./KeyHash.ts"
import type { Principal } from "./Principal.ts"
import { allScopes } from "./Principal.ts"

/** How long a look-up is trusted (decisions: a deactivated key fails on every replica within 1 s). */
const TRUSTED_MS = 900
const MAX_PRINCIPALS = 10_000

export class Access extends Context.Service<
  Access,
  {
    /** `environment`: an id or a name; undefined for the key's own default. */
    readonly authenticate: (
      bearer: string | undefined,
      environment: string | undefined
    ) => Effect.Effect<Principal, KeyInvalid | EnvironmentNotFound>
    /** Forgets what was looked up: on this replica a change of a key counts at once. */
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
        return { principal, until: now + TRUSTED_MS }
      })
      /** One look-up serves all who ask at the same time, and nobody after: what it found is remembered in `known` alone. */
      const lookups = yield* Cache.make({ lookup, capacity: MAX_PRINCIPALS, timeToLive: Duration.zero })

      const known = new Map<string, Known>()
      let forgotten = 0

      const find = (cacheKey: string) => {
        const found = known.get(cacheKey)
        const now = clock.currentTimeMillisUnsafe()
        // A clock that went back must not lengthen the trust.
        if (found !== undefined && now < found.until && now >= found.until - TRUSTED_MS) {
          return Effect.succeed(found.principal)
        }
        const before = forgotten
        return Effect.map(Cache.get(lookups, cacheKey), (fresh) => {
          if (known.size >= MAX_PRINCIPALS) known.clear()
          // What was looked up before a change is not kept.
          if (before === forgotten) known.set(cacheKey, fresh)
          return fresh.principal
        })
      }

      return Access.of({
        authenticate: (bearer, environment) => {
          if (bearer === undefined || !isWellFormed(bearer)) return Effect.fail(new KeyInvalid())
          if (environment === undefined) return find(hash(bearer))
          // An unknown key must look the same whatever environment it names, so a name that can't exist is still looked up.
          return find(hash(bearer) + (isNameable(environment) ? environment : UNNAMEABLE))
        },
        forget: Effect.suspend(() => {
          forgotten++
          known.clear()
          return Cache.invalidateAll(lookups)
        })
      })
    })
  )

  static readonly layer = Access.layerNoDeps.pipe(Layer.provide(AccessStore.layer))
}

interface Known {
  readonly principal: Principal
  /** Until when it is trusted (ms), counted from before the look-up. */
  readonly until: number
}

const HASH_LENGTH = 64
/** Longer than any name: no environment is called so. */
const UNNAMEABLE = "-".repeat(100)
const isNameable = (text: string) =>
  text.length > 0 && text.length <= 63 && !/\p{Cc}/u.test(text) && text.isWellFormed()
