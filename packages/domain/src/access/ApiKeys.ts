/**
 * The API keys of a workspace: list, create, activate and deactivate, delete. The full key is returned once, by the
 * request that creates it. A key cannot create a key with more scopes than its own.
 */
import type { PlatformError } from "effect"
import { Clock, Context, Crypto, Effect, Layer, Redacted } from "effect"
import type { Page, PageRequest } from "../database/Page.ts"
import { EnvironmentNotFound } from "../environments/Environment.ts"
import { IdempotencyInProgress } from "../idempotency/Idempotency.ts"
import { type Attempt } from "../idempotency/Attempt.ts"
import { LimitReached, MAX_PER_KIND } from "../limits/LimitReached.ts"
import { Access } from "./Access.ts"
import { ApiKeyNotFound, ScopeMissing } from "./AccessErrors.ts"
import type { KeyChange } from "./AccessStore.ts"
import { AccessStore } from "./AccessStore.ts"
import type { ApiKey } from "./ApiKey.ts"
import { DEFAULT_RATE_LIMIT_RPM, fromRandom, prefixOf, RANDOM_BYTES } from "./ApiKey.ts"
import { KeyHash } from "./KeyHash.ts"
import type { Principal, Scope } from "./Principal.ts"
import { allScopes } from "./Principal.ts"

export interface KeyRequest {
  readonly name: string
  /** Null: all scopes of the creating key. */
  readonly scopes: ReadonlyArray<Scope> | null
  readonly environmentId: string | null
  readonly rateLimitRpm: number | undefined
}

export interface CreatedKey {
  readonly apiKey: ApiKey
  readonly key: Redacted.Redacted
}

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    readonly list: (principal: Principal, page: PageRequest) => Effect.Effect<Page<ApiKey>>
    /**
     * `attempt`: the run of a request with an Idempotency-Key. An earlier run of the request returned no key to its
     * caller.
     */
    readonly create: (
      principal: Principal,
      request: KeyRequest,
      attempt: Attempt | undefined
    ) => Effect.Effect<CreatedKey, ScopeMissing | EnvironmentNotFound | LimitReached | IdempotencyInProgress>
    readonly update: (principal: Principal, id: string, change: KeyChange) => Effect.Effect<ApiKey, ApiKeyNotFound>
    readonly remove: (principal: Principal, id: string) => Effect.Effect<void, ApiKeyNotFound>
  }
>()("@sluice/domain/access/ApiKeys") {
  static readonly layerNoDeps = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const store = yield* AccessStore
      const access = yield* Access
      const crypto = yield* Crypto.Crypto
      const { hash } = yield* KeyHash

      return ApiKeys.of({
        list: Effect.fn("ApiKeys.list")((principal, page) => store.list(principal.workspaceId, page)),
        create: Effect.fn("ApiKeys.create")(function* (principal, request, attempt) {
          const beyond = request.scopes?.find((scope) => !principal.scopes.includes(scope))
          if (beyond !== undefined) return yield* new ScopeMissing({ scope: beyond })
          const environmentId = request.environmentId
          if (environmentId !== null && !(yield* store.environmentExists(principal.workspaceId, environmentId))) {
            return yield* new EnvironmentNotFound({ environment: environmentId })
          }
          const id = attempt?.id ?? (yield* Effect.orDie(crypto.randomUUIDv7()))
          if ((yield* store.count(principal.workspaceId, id)) >= MAX_PER_KIND) {
            return yield* new LimitReached({ kind: "API keys", limit: MAX_PER_KIND })
          }
          const key = yield* makeKey(crypto)
          const text = Redacted.value(key)
          const limited = principal.scopes.length < allScopes.length
          const apiKey = yield* store.insert(
            {
              id,
              workspaceId: principal.workspaceId,
              name: request.name,
              prefix: prefixOf(text),
              hash: hash(text),
              scopes: request.scopes ?? (limited ? principal.scopes : null),
              environmentId,
              rateLimitRpm: request.rateLimitRpm ?? DEFAULT_RATE_LIMIT_RPM
            },
            new Date(yield* Clock.currentTimeMillis),
            attempt
          )
          if (apiKey === undefined) return yield* new IdempotencyInProgress()
          return { apiKey, key }
        }),
        update: Effect.fn("ApiKeys.update")(function* (principal, id, change) {
          const apiKey = yield* store.update(principal.workspaceId, id, change)
          yield* access.forget
          return apiKey ?? (yield* new ApiKeyNotFound({ id }))
        }),
        remove: Effect.fn("ApiKeys.remove")(function* (principal, id) {
          const removed = yield* store.remove(principal.workspaceId, id)
          yield* access.forget
          if (!removed) return yield* new ApiKeyNotFound({ id })
        })
      })
    })
  )

  static readonly layer = ApiKeys.layerNoDeps.pipe(Layer.provide(AccessStore.layer))
}

/** Returns a new key of 178 random bits. */
export const makeKey = (crypto: Crypto.Crypto): Effect.Effect<Redacted.Redacted> => {
  const attempt: Effect.Effect<Redacted.Redacted, PlatformError.PlatformError> = Effect.flatMap(
    crypto.randomBytes(RANDOM_BYTES),
    (bytes) => {
      const key = fromRandom(bytes)
      return key === undefined ? attempt : Effect.succeed(Redacted.make(key))
    }
  )
  return Effect.orDie(attempt)
}
