/** The routes of volumes and their regions. */
import { InfraApi } from "@sluice/api/InfraApi"
import { listOf, pageRequest, wholeListOf } from "@sluice/api/infra/Envelope"
import { volumeToWire } from "@sluice/api/storage/VolumeWire"
import { CurrentPrincipal } from "@sluice/domain/access/Principal"
import { CurrentAttempt } from "@sluice/domain/idempotency/Idempotency"
import { VolumeNotFound } from "@sluice/domain/storage/Volume"
import { Volumes } from "@sluice/domain/storage/Volumes"
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { answer, dataOf, withId } from "../http/Answer.ts"

const missing = (id: string) => new VolumeNotFound({ id })

export const storageHandlers = HttpApiBuilder.group(InfraApi, "storage", (handlers) =>
  Effect.gen(function* () {
    const volumes = yield* Volumes
    return handlers
      .handle(
        "create",
        Effect.fnUntraced(function* ({ payload }) {
          const request = { name: payload.name, region: payload.region, sizeGb: payload.size_gb }
          return yield* answer(
            volumes.create(yield* CurrentPrincipal, request, (yield* CurrentAttempt)?.id),
            dataOf(volumeToWire)
          )
        })
      )
      .handle("list", ({ query }) =>
        Effect.flatMap(CurrentPrincipal, (principal) =>
          answer(volumes.list(principal, pageRequest(query)), (page, requestId) =>
            listOf(page, volumeToWire, requestId)
          )
        )
      )
      .handle("regions", () =>
        answer(Effect.succeed(volumes.regions), (all, requestId) => wholeListOf(all, (region) => region, requestId))
      )
      .handle("get", ({ params }) =>
        Effect.flatMap(CurrentPrincipal, (principal) =>
          answer(
            withId(params.id, missing, (id) => volumes.get(principal, id)),
            dataOf(volumeToWire)
          )
        )
      )
      .handle("grow", ({ params, payload }) =>
        Effect.flatMap(CurrentPrincipal, (principal) =>
          answer(
            withId(params.id, missing, (id) => volumes.grow(principal, id, payload.size_gb)),
            dataOf(volumeToWire)
          )
        )
      )
      .handle("remove", ({ params }) =>
        Effect.flatMap(CurrentPrincipal, (principal) =>
          answer(
            withId(params.id, missing, (id) => volumes.remove(principal, id)),
            () => undefined
          )
        )
      )
  })
)
