/** The contract of volumes and their regions (decisions: Storage; interface: GET /storage/regions). */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Authorized, NeedsScope, Idempotent, WellFormed } from "../access/InfraAccess.ts"
import { about, createdSchema, data, environmentQuery, list, listQuery, shortListQuery } from "../infra/Envelope.ts"
import { Conflict, NotFound, ServiceUnavailable, Unprocessable } from "../infra/InfraErrors.ts"
import { idParams } from "../infra/WireFields.ts"
import { NewVolume, RegionWire, VolumeChange, VolumeWire } from "./VolumeWire.ts"

const create = HttpApiEndpoint.post("create", "/", {
  query: environmentQuery,
  payload: NewVolume,
  success: createdSchema(VolumeWire),
  error: [Conflict, Unprocessable, ServiceUnavailable]
})
  .annotate(NeedsScope, "storage:write")
  .annotateMerge(about("createVolume", "Create a volume"))

const listVolumes = HttpApiEndpoint.get("list", "/", { query: listQuery, success: list(VolumeWire) })
  .annotate(NeedsScope, "storage:read")
  .annotateMerge(about("listVolumes", "List volumes, newest first"))

const regions = HttpApiEndpoint.get("regions", "/regions", { query: shortListQuery, success: list(RegionWire) })
  .annotate(NeedsScope, "storage:read")
  .annotateMerge(about("listStorageRegions", "List the regions for volumes"))

const get = HttpApiEndpoint.get("get", "/:id", {
  params: idParams,
  query: environmentQuery,
  success: data(VolumeWire),
  error: NotFound
})
  .annotate(NeedsScope, "storage:read")
  .annotateMerge(about("getVolume", "Get a volume"))

const grow = HttpApiEndpoint.patch("grow", "/:id", {
  params: idParams,
  query: environmentQuery,
  payload: VolumeChange,
  success: data(VolumeWire),
  error: [NotFound, Conflict, Unprocessable]
})
  .annotate(NeedsScope, "storage:write")
  .annotateMerge(about("growVolume", "Enlarge a volume that no machine has attached"))

const remove = HttpApiEndpoint.delete("remove", "/:id", {
  params: idParams,
  query: environmentQuery,
  error: [NotFound, Conflict]
})
  .annotate(NeedsScope, "storage:write")
  .annotateMerge(about("deleteVolume", "Delete a volume that no machine has attached"))

export class StorageApi extends HttpApiGroup.make("storage")
  .add(create, listVolumes, regions, get, grow, remove)
  .middleware(WellFormed)
  .middleware(Idempotent)
  .middleware(Authorized)
  .prefix("/api/v1/storage") {}
