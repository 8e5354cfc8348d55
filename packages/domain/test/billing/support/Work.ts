/** What a tenant may ask of the stores: requests of models, and jobs. */
import type { Principal } from "@sluice/domain/access/Principal"
import type { NanoUsd } from "@sluice/domain/billing/Money"
import type { MeterRow } from "@sluice/domain/metering/MeteringStore"
import type { Admission } from "@sluice/domain/jobs/JobAdmissionStore"
import { machineSpecOf } from "@sluice/domain/jobs/JobDrafts"
import { Crypto, Effect } from "effect"

/** A reservation, or the settlement of one. */
export const meterRow = (tenant: Principal, id: string, settle: boolean, amount: NanoUsd): MeterRow => ({
  settle,
  id,
  accountId: tenant.workspaceId,
  environmentId: tenant.environmentId,
  keyId: tenant.keyId,
  amount,
  block: undefined,
  model: "m",
  description: "",
  requestId: id,
  tokensIn: settle ? 1 : null,
  tokensOut: settle ? 1 : null
})

const SPEC = {
  command: "true",
  gpuType: "H100",
  gpuCount: 1,
  template: "t",
  image: null,
  envKeys: [],
  maxRuntimeMinutes: 1_000,
  capacityWaitMinutes: 1_000,
  maxCostNanoUsd: null,
  region: null
}

export const jobDraft = Effect.fnUntraced(function* (
  { environmentId, workspaceId }: Principal,
  { hold, price }: Pick<Admission, "hold" | "price">
) {
  const { randomUUIDv7 } = yield* Crypto.Crypto
  const admission: Admission = {
    jobId: yield* randomUUIDv7(),
    machineId: yield* randomUUIDv7(),
    workspaceId,
    environmentId,
    volumeId: undefined,
    name: "job",
    spec: SPEC,
    machineSpec: machineSpecOf(SPEC, {}),
    labels: null,
    sealed: null,
    price,
    hold,
    launch: false
  }
  return admission
})
