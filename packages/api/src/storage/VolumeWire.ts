/** A volume and a region on the wire, and the bodies that make and grow one (decisions: Storage; interface: Storage region). */
import type { Volume } from "@sluice/domain/storage/Volume"
import { MAX_VOLUME_GB } from "@sluice/domain/storage/Volume"
import * as Schema from "effect/Schema"
import { DateTime, iso, Name, nullable, required } from "../infra/WireFields.ts"

export const VolumeWire = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  region: Schema.String,
  size_gb: Schema.Int,
  used_bytes: Schema.Int,
  attached_to: nullable(Schema.String).annotate({ description: "The machine that has it mounted." }),
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

const sizeRule = { message: `must be an integer from 1 to ${MAX_VOLUME_GB}` }
const SizeGb = Schema.Int.annotate(sizeRule)
  .check(Schema.isBetween({ minimum: 1, maximum: MAX_VOLUME_GB }, sizeRule))
  .annotateKey(required)

export const NewVolume = Schema.Struct({
  name: Name.annotateKey(required),
  region: Schema.String.annotate({ message: "must be a string: an id of GET /storage/regions" }).annotateKey(required),
  size_gb: SizeGb
}).annotate({ identifier: "NewVolume" })

export const VolumeChange = Schema.Struct({ size_gb: SizeGb }).annotate({ identifier: "VolumeChange" })
