/** Submissions as their store is asked to record them, made by the code that makes them for callers. */
import type { Principal } from "@sluice/domain/access/Principal"
import type { JobSpec } from "@sluice/domain/jobs/Job"
import type { Admission } from "@sluice/domain/jobs/JobAdmissionStore"
import { draftOf } from "@sluice/domain/jobs/JobDrafts"
import { Crypto, Effect } from "effect"

const SPEC: JobSpec = {
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

/** `changed`: what the test looks at. Left out: labels, sealed variables, a price, and a launch at once. */
export const draft = Effect.fnUntraced(function* (
  principal: Principal,
  hold: bigint,
  volumeId?: string,
  changed: Partial<Admission> = {}
) {
  const { randomUUIDv7 } = yield* Crypto.Crypto
  const request = {
    spec: changed.spec ?? SPEC,
    name: "job",
    volumeId,
    env: new Map(),
    labels: { team: "a" },
    price: 1_000n,
    launchScriptBytes: 1,
    launch: true
  }
  const ids = { jobId: yield* randomUUIDv7(), machineId: yield* randomUUIDv7() }
  const made = draftOf(principal, request, { ...ids, attempt: undefined, sealed: new Uint8Array([0, 255, 7]) })
  return { ...made, hold, ...changed }
})

/** A job that runs long, of a machine that is not launched at once. */
export const jobDraft = (principal: Principal, { hold, price }: Pick<Admission, "hold" | "price">) => {
  const spec = { ...SPEC, maxRuntimeMinutes: 1_000, capacityWaitMinutes: 1_000 }
  return draft(principal, hold, undefined, { spec, price, labels: null, sealed: null, launch: false })
}
