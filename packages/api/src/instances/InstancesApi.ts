/** The contract of machines: list, get, stop, and the GPU types (decisions: Instances, templates). */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { Authorized, NeedsScope, Idempotent, WellFormed } from "../access/InfraAccess.ts"
import { about, data, environmentQuery, list, listQuery, shortListQuery } from "../infra/Envelope.ts"
import { NotFound, ServiceUnavailable } from "../infra/InfraErrors.ts"
import { idParams } from "../infra/WireFields.ts"
import { GpuTypeWire, InstanceWire } from "./InstanceWire.ts"

const listInstances = HttpApiEndpoint.get("list", "/", { query: listQuery, success: list(InstanceWire) })
  .annotate(NeedsScope, "instances:read")
  .annotateMerge(about("listInstances", "List machines, newest first; a job's machine is among them"))

const types = HttpApiEndpoint.get("types", "/types", {
  query: shortListQuery,
  success: list(GpuTypeWire),
  error: ServiceUnavailable
})
  .annotate(NeedsScope, "instances:read")
  .annotateMerge(about("listInstanceTypes", "List the GPU types that can be rented, with prices"))

const get = HttpApiEndpoint.get("get", "/:id", {
  params: idParams,
  query: environmentQuery,
  success: data(InstanceWire),
  error: NotFound
})
  .annotate(NeedsScope, "instances:read")
  .annotateMerge(about("getInstance", "Get a machine"))

const stop = HttpApiEndpoint.post("stop", "/:id/stop", {
  params: idParams,
  query: environmentQuery,
  success: data(InstanceWire),
  error: NotFound
})
  .annotate(NeedsScope, "instances:write")
  .annotateMerge(about("stopInstance", "Stop a machine; stopping a job's machine cancels the job"))

export class InstancesApi extends HttpApiGroup.make("instances")
  .add(listInstances, types, get, stop)
  .middleware(WellFormed)
  .middleware(Idempotent)
  .middleware(Authorized)
  .prefix("/api/v1/instances") {}
