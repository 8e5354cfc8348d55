/**
 * Workspaces, for operators and for the first start of a server. A workspace is created with its environment `default`
 * and its account. Two processes that start at once create one workspace and one key (decisions: Running it, Tenancy).
 */
import { Clock, Context, Crypto, Effect, Layer, Redacted } from "effect"
import { monthOf } from "../billing/Month.ts"
import { WorkspaceNameTaken, WorkspaceNotFound } from "./AccessErrors.ts"
import { AccessStore } from "./AccessStore.ts"
import { DEFAULT_RATE_LIMIT_RPM, prefixOf } from "./ApiKey.ts"
import { makeKey } from "./ApiKeys.ts"
import { KeyHash } from "./KeyHash.ts"
import { WorkspaceStore } from "./WorkspaceStore.ts"

export const DEFAULT_WORKSPACE = "default"

export interface Bootstrap {
  readonly workspaceId: string
  /** The key that this call created, to be shown once; undefined if the workspace already has keys. */
  readonly key: Redacted.Redacted | undefined
  /** The configured first key was not used: the workspace has other keys, and it is not one of them. */
  readonly keyIgnored: boolean
}

export class Workspaces extends Context.Service<
  Workspaces,
  {
    /** Returns the id of the new workspace. */
    readonly create: (name: string) => Effect.Effect<string, WorkspaceNameTaken>
    readonly find: (name: string) => Effect.Effect<string, WorkspaceNotFound>
    /** Creates a key with all scopes: `key` if given, or else a random one. */
    readonly createKey: (workspaceId: string, name: string, key?: Redacted.Redacted) => Effect.Effect<Redacted.Redacted>
    /** Creates the workspace `default` and its first key if they are missing. A second call changes nothing. */
    readonly bootstrap: (firstKey: Redacted.Redacted | undefined) => Effect.Effect<Bootstrap>
  }
>()("@sluice/domain/access/Workspaces") {
  static readonly layerNoDeps = Layer.effect(
    Workspaces,
    Effect.gen(function* () {
      const store = yield* WorkspaceStore
      const keys = yield* AccessStore
      const crypto = yield* Crypto.Crypto
      const { hash } = yield* KeyHash
      const newId = Effect.orDie(crypto.randomUUIDv7())

      const insert = Effect.fnUntraced(function* (name: string) {
        const now = yield* Clock.currentTimeMillis
        const ids = { workspaceId: yield* newId, environmentId: yield* newId }
        return (yield* store.insert(ids, name, new Date(now), monthOf(now))) ? ids.workspaceId : undefined
      })
      const find = Effect.fnUntraced(function* (name: string) {
        return (yield* store.find(name)) ?? (yield* new WorkspaceNotFound({ name }))
      })
      const createKey = Effect.fnUntraced(function* (workspaceId: string, name: string, given?: Redacted.Redacted) {
        const key = given ?? (yield* makeKey(crypto))
        const text = Redacted.value(key)
        const rights = { scopes: null, environmentId: null, rateLimitRpm: DEFAULT_RATE_LIMIT_RPM }
        const id = yield* newId
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* keys.insert({ id, workspaceId, name, prefix: prefixOf(text), hash: hash(text), ...rights }, now)
        return key
      })

      return Workspaces.of({
        create: Effect.fn("Workspaces.create")(function* (name) {
          return (yield* insert(name)) ?? (yield* new WorkspaceNameTaken({ name }))
        }),
        find: Effect.fn("Workspaces.find")(find),
        createKey: Effect.fn("Workspaces.createKey")(createKey),
        bootstrap: Effect.fn("Workspaces.bootstrap")(function* (firstKey) {
          const createdId = yield* insert(DEFAULT_WORKSPACE)
          const workspaceId = createdId ?? (yield* Effect.orDie(find(DEFAULT_WORKSPACE)))
          return yield* store.transaction(
            Effect.gen(function* () {
              if (!(yield* store.lockAndHasKeys(workspaceId))) {
                return { workspaceId, key: yield* createKey(workspaceId, "default", firstKey), keyIgnored: false }
              }
              const isKnownKey =
                firstKey === undefined || (yield* store.isKeyOf(workspaceId, hash(Redacted.value(firstKey))))
              return { workspaceId, key: undefined, keyIgnored: !isKnownKey }
            })
          )
        })
      })
    })
  )

  static readonly layer = Workspaces.layerNoDeps.pipe(Layer.provide([WorkspaceStore.layer, AccessStore.layer]))
}
