/**
 * A volume: files that outlive machines. At most one machine at a time mounts a volume, at `/workspace` (decisions:
 * Storage).
 */
import { Schema } from "effect"

export const MAX_VOLUME_GB = 10_000

export interface Volume {
  readonly id: string
  readonly name: string
  readonly region: string
  readonly sizeGb: number
  readonly usedBytes: number
  /** The machine that mounts the volume. */
  readonly attachedTo: string | null
  readonly createdAt: Date
}

export class VolumeNotFound extends Schema.TaggedError<VolumeNotFound>()("VolumeNotFound", { id: Schema.String }) {}

/** The volume is mounted by a machine. */
export class VolumeAttached extends Schema.TaggedError<VolumeAttached>()("VolumeAttached", { id: Schema.String }) {}

/**
 * The request that created the volume was retried, but the volume was deleted meanwhile and its deletion has not ended.
 */
export class VolumeBeingDeleted extends Schema.TaggedError<VolumeBeingDeleted>()("VolumeBeingDeleted", {
  id: Schema.String
}) {}

export class VolumeNameTaken extends Schema.TaggedError<VolumeNameTaken>()("VolumeNameTaken", {
  name: Schema.String
}) {}
