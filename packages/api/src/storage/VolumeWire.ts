/**
 * Volumes and regions on the wire, and the bodies that create and enlarge a volume (decisions: Storage; interface:
 * Storage region).
 */
import type { Volume } from "@sluice/domain/storage/Volume"
import { SizeGb, VolumeRequestBody } from "@sluice/domain/storage/VolumeRequest"
import * as Schema from "effect/Schema"
import { DateTime, iso, nullable } from "../infra/WireFields.ts"

export const VolumeWire = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  region: Schema.String,
  size_gb: Schema.Int,
  used_bytes: Schema.Int,
  attached_to: nullable(Schema.String, "The machine that mounts the volume."),
  created_at: DateTime
}).annotate({ identifier: "Volume" })

export const volumeToWire = (volume: Volume): typeof VolumeWire.Type => ({
  id: volume.id,
  name: volume.name,
  region: volume.region,
  size_gb: volume.sizeGb,
  used_bytes: volume.usedBytes,
  attached_to: volume.attachedTo,
  created_at: iso(volume.createdAt)
})

export const RegionWire = Schema.Struct({ id: Schema.String, name: Schema.String, provider: Schema.String }).annotate({
  identifier: "StorageRegion"
})

export const NewVolume = VolumeRequestBody.annotate({ identifier: "NewVolume" })

export const VolumeChange = Schema.Struct({ size_gb: SizeGb }).annotate({ identifier: "VolumeChange" })
