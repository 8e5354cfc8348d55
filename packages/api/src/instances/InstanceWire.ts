/** Machines and GPU types on the wire (decisions: Instances, templates). */
import { toUsd } from "@sluice/domain/billing/Money"
import type { GpuType } from "@sluice/domain/machines/GpuType"
import type { Machine, MachineStatus } from "@sluice/domain/machines/Machine"
import * as Schema from "effect/Schema"
import { DateTime, iso, isoOrNull, nullable, Usd, withDefault } from "../infra/WireFields.ts"

const statuses = ["pending", "starting", "running", "stopping", "stopped", "failed"] as const

export const InstanceWire = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  status: Schema.Literals(statuses),
  gpu_type: Schema.String,
  gpu_count: Schema.Int,
  template: nullable(Schema.String),
  image: nullable(Schema.String),
  region: nullable(Schema.String),
  storage_id: nullable(Schema.String),
  job_id: nullable(Schema.String),
  ssh: nullable(Schema.Struct({ host: Schema.String, port: Schema.Int, user: Schema.String })),
  cost_per_hour: Usd,
  cost_usd: nullable(Usd),
  created_at: DateTime,
  started_at: nullable(DateTime),
  ended_at: nullable(DateTime)
}).annotate({ identifier: "Instance" })

const wireStatus: { readonly [S in MachineStatus]: (typeof statuses)[number] } = {
  wanted: "pending",
  launching: "starting",
  running: "running",
  stopping: "stopping",
  stopped: "stopped",
  failed: "failed"
}

export const instanceToWire = (machine: Machine): typeof InstanceWire.Type => ({
  id: machine.id,
  name: machine.name,
  status: wireStatus[machine.status],
  gpu_type: machine.spec.gpuType,
  gpu_count: machine.spec.gpuCount,
  template: machine.spec.template,
  image: machine.spec.image,
  region: machine.spec.region,
  storage_id: machine.volumeId,
  job_id: machine.jobId,
  ssh: null,
  cost_per_hour: toUsd(machine.price),
  cost_usd: machine.cost === null ? null : toUsd(machine.cost),
  created_at: iso(machine.createdAt),
  started_at: isoOrNull(machine.runningAt),
  ended_at: isoOrNull(machine.stoppedAt)
})

export const GpuTypeWire = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  gpu_type: Schema.String.annotate({ description: "The value for `gpu_type` of a job." }),
  memory_gb: Schema.Finite,
  max_gpu_count: Schema.Int,
  price_per_gpu_hour: Usd,
  regions: withDefault(Schema.Array(Schema.String), []),
  available: Schema.Int.annotate({ description: "Free GPUs, over all regions." })
}).annotate({ identifier: "InstanceType" })

export const gpuTypeToWire = (type: GpuType): typeof GpuTypeWire.Type => ({
  id: type.id,
  name: type.name,
  gpu_type: type.id,
  memory_gb: type.memoryGb,
  max_gpu_count: type.maxGpuCount,
  price_per_gpu_hour: toUsd(type.priceNanoUsdPerGpuHour),
  regions: type.regions,
  available: type.available
})
