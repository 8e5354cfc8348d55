/**
 * The volumes of an environment: create, list, get, grow, delete. A volume's size only grows. This module attaches no
 * volume: the jobs and machines do; it only refuses to change an attached volume.
 */
import { Clock, Context, Crypto, Effect, Layer, Result, Schema } from "effect"
import type { Principal } from "../access/Principal.ts"
import type { Page, PageRequest } from "../database/Page.ts"
import type { IdempotencyInProgress } from "../idempotency/Idempotency.ts"
import type { Attempt } from "../idempotency/Attempt.ts"
import { LimitReached, MAX_PER_KIND } from "../limits/LimitReached.ts"
import { MachineProvider } from "../machines/MachineProvider.ts"
import { RequestInvalid } from "../requests/RequestInvalid.ts"
import type { Region } from "./Region.ts"
import type { Volume, VolumeBeingDeleted, VolumeNameTaken } from "./Volume.ts"
import { VolumeAttached, VolumeNotFound } from "./Volume.ts"
import * as VolumeRequest from "./VolumeRequest.ts"
import { VolumeStore } from "./VolumeStore.ts"

/** The requested size is smaller than the volume, which only grows. `sizeGb`: the volume's size. */
export class VolumeShrinks extends Schema.TaggedError<VolumeShrinks>()("VolumeShrinks", { sizeGb: Schema.Int }) {}

export class Volumes extends Context.Service<
  Volumes,
  {
    readonly regions: ReadonlyArray<Region>
    /** `attempt`: the run of a request with an Idempotency-Key. A retry returns the volume of the earlier run. */
    readonly create: (
      principal: Principal,
      body: unknown,
      attempt?: Attempt
    ) => Effect.Effect<
      Volume,
      RequestInvalid | LimitReached | VolumeBeingDeleted | VolumeNameTaken | IdempotencyInProgress
    >
    readonly list: (principal: Principal, page: PageRequest) => Effect.Effect<Page<Volume>>
    readonly get: (principal: Principal, id: string) => Effect.Effect<Volume, VolumeNotFound>
    readonly grow: (
      principal: Principal,
      id: string,
      sizeGb: number
    ) => Effect.Effect<Volume, VolumeNotFound | VolumeAttached | VolumeShrinks>
    readonly remove: (principal: Principal, id: string) => Effect.Effect<void, VolumeNotFound | VolumeAttached>
  }
>()("@sluice/domain/storage/Volumes") {
  static readonly layerNoDeps = Layer.effect(
    Volumes,
    Effect.gen(function* () {
      const store = yield* VolumeStore
      const crypto = yield* Crypto.Crypto
      const { regions } = yield* MachineProvider
      const get = Effect.fnUntraced(function* (principal: Principal, id: string) {
        return (yield* store.get(principal, id)) ?? (yield* new VolumeNotFound({ id }))
      })

      return Volumes.of({
        regions,
        create: Effect.fn("Volumes.create")(function* (principal, body, attempt) {
          const decoded = VolumeRequest.decode(body, regions)
          if (Result.isFailure(decoded)) return yield* new RequestInvalid({ issues: decoded.failure })
          const { name, region, size_gb: sizeGb } = decoded.success
          const id = attempt?.id ?? (yield* Effect.orDie(crypto.randomUUIDv7()))
          if ((yield* store.count(principal.workspaceId, id)) >= MAX_PER_KIND) {
            return yield* new LimitReached({ kind: "volumes", limit: MAX_PER_KIND })
          }
          const now = new Date(yield* Clock.currentTimeMillis)
          return yield* store.insert(principal, { id, name, region, sizeGb }, now, attempt)
        }),
        list: Effect.fn("Volumes.list")(store.list),
        get: Effect.fn("Volumes.get")(get),
        grow: Effect.fn("Volumes.grow")(function* (principal, id, sizeGb) {
          const grown = yield* store.grow(principal, id, sizeGb)
          if (grown !== undefined) return grown
          const volume = yield* get(principal, id)
          if (volume.attachedTo !== null) return yield* new VolumeAttached({ id })
          return yield* new VolumeShrinks({ sizeGb: volume.sizeGb })
        }),
        remove: Effect.fn("Volumes.remove")(function* (principal, id) {
          if (yield* store.removeDetached(principal, id, new Date(yield* Clock.currentTimeMillis))) return
          yield* get(principal, id)
          return yield* new VolumeAttached({ id })
        })
      })
    })
  )

  static readonly layer = Volumes.layerNoDeps.pipe(Layer.provide(VolumeStore.layer))
}
