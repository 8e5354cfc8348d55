/** A volume: files that outlive machines, mounted at `/workspace` by one machine at a time (decisions: Storage). */
import { Schema } from "effect"

export const MAX_VOLUME_GB = 10_000

export interface Volume {
  readonly id: string
  readonly name: string
  readonly region: string
  readonly sizeGb: number
  readonly usedBytes: number
  /** The machine that has it mounted. */
  readonly attachedTo: string | null
  readonly createdAt: Date
}

export class VolumeNotFound extends Schema.TaggedError<VolumeNotFound>()("VolumeNotFound", { id: Schema.String }) {}

/** Mounted by another machine. */
export class VolumeAttached extends Schema.TaggedError<VolumeAttached>()("VolumeAttached", { id: Schema.String }) {}

/** A retry of the request that made it, whose deletion came first and is still under way. */
export class VolumeBeingDeleted extends Schema.TaggedError<VolumeBeingDeleted>()("VolumeBeingDeleted", {
  id: Schema.String
}) {}

export class VolumeNameTaken extends Schema.TaggedError<VolumeNameTaken>()("VolumeNameTaken", {
  name: Schema.String
}) {}
