/** A submission as its store is asked to record it. */
import type { Principal } from "@sluice/domain/access/Principal"
import type { Admission } from "@sluice/domain/jobs/JobAdmissionStore"
import { machineSpecOf } from "@sluice/domain/jobs/JobDrafts"
import { Crypto, Effect } from "effect"

export const draft = Effect.fnUntraced(function* (principal: Principal, hold: bigint, volumeId?: string) {
  const crypto = yield* Crypto.Crypto
  const jobId = yield* crypto.randomUUIDv7()
  const spec = {
    command: "true",
    gpuType: "H100",
    gpuCount: 1,
    template: "ubuntu-devbox",
    image: null,
    envKeys: [],
    maxRuntimeMinutes: 1,
    capacityWaitMinutes: 1,
    maxCostNanoUsd: null,
    region: null
  }
  const admission: Admission = {
    jobId,
    machineId: yield* crypto.randomUUIDv7(),
    workspaceId: principal.workspaceId,
    environmentId: principal.environmentId,
    volumeId,
    name: "job",
    spec,
    machineSpec: machineSpecOf(spec, {}),
    labels: { team: "a" },
    sealed: new Uint8Array([0, 255, 7]),
    price: 1_000n,
    hold,
    launch: true
  }
  return admission
})
