/** A type of GPU machine that can be rented: an entry of `GET /instances/types` (decisions: Instances, templates). */
import type { NanoUsd } from "../billing/Money.ts"

export interface GpuType {
  /** For example `H100`; the `gpu_type` of a job. */
  readonly id: string
  readonly name: string
  readonly memoryGb: number
  readonly maxGpuCount: number
  readonly priceNanoUsdPerGpuHour: NanoUsd
  readonly regions: ReadonlyArray<string>
  /** GPUs of this type that are free now, over all regions. */
  readonly available: number
}
