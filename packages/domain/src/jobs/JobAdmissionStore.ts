/**
 * Records jobs: budget, volume, hold and rows in one statement for many submissions, as if one came after the other.
 *
 * The account rows are locked in order and the aggregate `admit` walks each account's rows: a row that does not fit is passed
 * over and later, smaller ones still may. A job whose id exists already is answered as admitted and changes nothing, so that
 * a flush whose connection broke is simply said again (StatementRetry.ts): what it had recorded itself, by the machine, is no repeat.
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
  /** As a refusal names it. */
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
  /** Launch at once; false: no room is known, the machine waits for it. */
  readonly launch: boolean
  /** Under an Idempotency-Key: a run that has lost it records nothing, as another one answers for it. */
  readonly attempt?: Attempt | undefined
}

/** A machine that waits is asked for after this long at the latest: what was known of the room may be out of date. */
const FIRST_LOOK_MS = 30_000

/** `repeated`: the job was there already (an earlier run of the same request). */
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
  // When the job itself is looked at first, unless its machine changes before.
  wait_minutes: admission.spec.capacityWaitMinutes,
  attempt_key: admission.attempt?.key,
  locked_until: admission.attempt?.lockedUntil
})

export class JobAdmissionStore extends Context.Service<
  JobAdmissionStore,
  {
    /** Records the job and its machine; one to launch is claimed by this replica (fence 1) with its launch asked for. */
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
