/** The routes of volumes and their regions. */
import { InfraApi } from "@sluice/api/InfraApi"
import { volumeToWire } from "@sluice/api/storage/VolumeWire"
import { CurrentPrincipal } from "@sluice/domain/access/Principal"
import { CurrentAttempt } from "@sluice/domain/idempotency/Attempt"
import { VolumeNotFound } from "@sluice/domain/storage/Volume"
import { Volumes } from "@sluice/domain/storage/Volumes"
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { answer, dataOf, nothing, one, page, shortPage } from "../http/Answer.ts"
import { jsonBody } from "../http/JsonBody.ts"

const missing = (id: string) => new VolumeNotFound({ id })

export const storageHandlers = HttpApiBuilder.group(InfraApi, "storage", (handlers) =>
  Effect.gen(function* () {
    const volumes = yield* Volumes
    return handlers
      .handleRaw(
        "create",
        Effect.fnUntraced(function* ({ request }) {
          const [principal, attempt] = [yield* CurrentPrincipal, yield* CurrentAttempt]
          return yield* answer(
            Effect.flatMap(jsonBody(request), (body) => volumes.create(principal, body, attempt)),
            dataOf(volumeToWire)
          )
        })
      )
      .handle("list", page(volumes.list, volumeToWire))
      .handle(
        "regions",
        shortPage(Effect.succeed(volumes.regions), (region) => region)
      )
      .handle("get", one(missing, volumes.get, dataOf(volumeToWire)))
      .handle(
        "grow",
        one(missing, (principal, id, { payload }) => volumes.grow(principal, id, payload.size_gb), dataOf(volumeToWire))
      )
      .handle("remove", one(missing, volumes.remove, nothing))
  })
)
