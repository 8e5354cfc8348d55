/** A kind of GPU machine that can be rented: what `GET /instances/types` lists (decisions: Instances, templates). */
import type { NanoUsd } from "../billing/Money.ts"

export interface GpuType {
  /** `H100`: also the `gpu_type` of a job. */
  readonly id: string
  readonly name: string
  readonly memoryGb: number
  readonly maxGpuCount: number
  readonly priceNanoUsdPerGpuHour: NanoUsd
  readonly regions: ReadonlyArray<string>
  /** GPUs of this type that are free at present, over all regions. */
  readonly available: number
}
