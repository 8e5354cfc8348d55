/**
 * Admits jobs: checks budget and volume and records hold and rows, for many submissions in one statement, as if they came one
 * after the other.
 *
 * The account rows are locked in order, and the aggregate `admit` walks the submissions of each account: one that does not fit is
 * skipped, and a later, smaller one may still fit. A job whose id exists counts as admitted and changes nothing, so a flush with
 * an unknown outcome is retried (StatementRetry.ts). The id of the machine distinguishes the flush's own rows from those of an earlier run.
 */
import { Clock, Context, Effect, Exit, Layer, Schema } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { BudgetReached, CreditInsufficient } from "../billing/BillingErrors.ts"
import { monthOf } from "../billing/Month.ts"
import type { NanoUsd } from "../billing/Money.ts"
import { BatchSql } from "../database/Clients.ts"
import * as GroupCommit from "../database/GroupCommit.ts"
import { Replica } from "../database/Replica.ts"
import { rowsOf } from "../database/RowDecoder.ts"
import { retryUnconfirmed } from "../database/StatementRetry.ts"
import { IdempotencyInProgress } from "../idempotency/Idempotency.ts"
import { type Attempt } from "../idempotency/Attempt.ts"
import type { StoredSpec } from "../machines/MachineRow.ts"
import { VolumeAttached } from "../storage/Volume.ts"
import type { JobSpec } from "./Job.ts"
import { ADMIT_JOBS } from "./JobAdmission.sql.ts"

const MAX_ROWS = 128

export interface Admission {
  readonly jobId: string
  readonly machineId: string
  readonly workspaceId: string
  readonly environmentId: string
  /** The name that a refusal shows. */
  readonly environmentName: string
  readonly volumeId: string | undefined
  readonly name: string
  readonly spec: JobSpec
  readonly machineSpec: StoredSpec
  readonly labels: Readonly<Record<string, string>> | null
  readonly sealed: Uint8Array | null
  /** Nano-USD an hour. */
  readonly price: NanoUsd
  /** Nano-USD to hold. */
  readonly hold: NanoUsd
  /** True to launch at once; false if there is no capacity and the machine waits. */
  readonly launch: boolean
  /** Set with an Idempotency-Key. A run that lost its key records nothing, because another run answers. */
  readonly attempt?: Attempt | undefined
}

/** Milliseconds until a waiting machine is first tried again, because the known capacity may be stale. */
const FIRST_LOOK_MS = 30_000

/** `repeated`: an earlier run of the same request recorded the job. */
export interface Admitted {
  readonly repeated: boolean
  readonly at: number
}
type Refusal = BudgetReached | VolumeAttached | CreditInsufficient | IdempotencyInProgress

const AdmissionRow = Schema.Struct({
  ord: Schema.Number,
  refused: Schema.NullOr(
    Schema.Literals(["admitted", "repeated", "taken_over", "budget_reached", "volume_attached", "insufficient_credits"])
  ),
  available: Schema.NullOr(Schema.BigInt)
})
type AdmissionRow = typeof AdmissionRow.Type
const admissionRows = rowsOf("JobAdmissionStore", AdmissionRow)

const inputOf = (admission: Admission, ord: number) => ({
  ord,
  job_id: admission.jobId,
  machine_id: admission.machineId,
  workspace_id: admission.workspaceId,
  environment_id: admission.environmentId,
  volume_id: admission.volumeId ?? null,
  name: admission.name,
  spec: admission.spec,
  machine_spec: admission.machineSpec,
  labels: admission.labels,
  sealed: admission.sealed === null ? null : Base64.encode(admission.sealed),
  price: admission.price.toString(),
  amount: admission.hold.toString(),
  launch: admission.launch,
  // The time of the job's first step, unless its machine changes before.
  wait_minutes: admission.spec.capacityWaitMinutes,
  attempt_key: admission.attempt?.key,
  locked_until: admission.attempt?.lockedUntil
})

export class JobAdmissionStore extends Context.Service<
  JobAdmissionStore,
  {
    /** Records the job and its machine. A machine to launch is claimed by this replica (fence 1) with the intent to launch. */
    readonly admit: (admission: Admission) => Effect.Effect<Admitted, Refusal>
  }
>()("@sluice/domain/jobs/JobAdmissionStore") {
  static readonly layer = Layer.effect(
    JobAdmissionStore,
    Effect.gen(function* () {
      const sql = yield* BatchSql
      const replica = yield* Replica
      const clock = yield* Clock.Clock

      const verdict = (
        admission: Admission,
        row: AdmissionRow | undefined,
        at: number
      ): Exit.Exit<Admitted, Refusal> => {
        switch (row?.refused) {
          case null:
          case "admitted":
            return Exit.succeed({ repeated: false, at })
          case "repeated":
            return Exit.succeed({ repeated: true, at })
          case "taken_over":
            return Exit.fail(new IdempotencyInProgress())
          case "budget_reached":
            return Exit.fail(new BudgetReached({ environmentName: admission.environmentName }))
          case "volume_attached":
            return Exit.fail(new VolumeAttached({ id: admission.volumeId ?? "" }))
          default:
            return Exit.fail(new CreditInsufficient({ required: admission.hold, available: row?.available ?? 0n }))
        }
      }

      const commits = yield* GroupCommit.make<Admission, Admitted, Refusal, never>(
        {
          name: "job_admissions",
          maxRows: MAX_ROWS,
          key: (admission) => admission.workspaceId,
          // Two jobs for one volume never share a statement, because one job gets it. Two runs of one request never share one either.
          alone: (admission) => admission.volumeId ?? admission.jobId
        },
        (admissions) => {
          const at = clock.currentTimeMillisUnsafe()
          return retryUnconfirmed(
            sql.unsafe(ADMIT_JOBS, [
              JSON.stringify(admissions.map(inputOf)),
              new Date(at),
              replica.id,
              monthOf(at),
              new Date(at + replica.leaseMs),
              new Date(at + FIRST_LOOK_MS)
            ])
          ).pipe(
            Effect.orDie,
            Effect.map((rows) => {
              const byOrd = new Map(admissionRows(rows).map((row) => [row.ord, row]))
              return admissions.map((admission, ord) => verdict(admission, byOrd.get(ord), at))
            })
          )
        }
      )
      return JobAdmissionStore.of({ admit: commits.submit })
    })
  )
}
