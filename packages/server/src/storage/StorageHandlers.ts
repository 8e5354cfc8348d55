/** The routes of volumes and their regions. */
import { InfraApi } from "@sluice/api/InfraApi"
import { volumeToWire } from "@sluice/api/storage/VolumeWire"
import { VolumeNotFound } from "@sluice/domain/storage/Volume"
import { Volumes } from "@sluice/domain/storage/Volumes"
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { dataOf, nothing, one, page, shortPage, submit } from "../http/Answer.ts"

const missing = (id: string) => new VolumeNotFound({ id })

export const storageHandlers = HttpApiBuilder.group(InfraApi, "storage", (handlers) =>
  Effect.gen(function* () {
    const volumes = yield* Volumes
    return handlers
      .handleRaw("create", submit(volumes.create, dataOf(volumeToWire)))
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
