/**
 * Records jobs: budget, volume, hold and rows in one statement for many submissions, as if one came after the other.
 *
 * The account rows are locked in order and the aggregate `admit` walks each account's rows: a row that does not fit is passed
 * over and later, smaller ones still may. A job whose id exists already is answered as admitted and changes nothing, so that
 * a flush whose connection broke is simply said again (StatementRetry.ts): what it had recorded itself, by the machine, is no repeat.
 */
import { Clock, Context, Effect, Exit, Layer } from "effect"
import * as Base64 from "effect/encoding/Base64"
import { CreditInsufficient } from "../billing/BillingErrors.ts"
import { monthOf } from "../billing/Month.ts"
import type { NanoUsd } from "../billing/Money.ts"
import { BatchSql } from "../database/Clients.ts"
import * as GroupCommit from "../database/GroupCommit.ts"
import { Replica } from "../database/Replica.ts"
import { retryUnconfirmed } from "../database/StatementRetry.ts"
import { IdempotencyInProgress } from "../idempotency/Idempotency.ts"
import { type Attempt } from "../idempotency/Attempt.ts"
import type { StoredSpec } from "../machines/MachineRow.ts"
import type { JobSpec } from "./Job.ts"

const MAX_ROWS = 128

export interface Admission {
  readonly jobId: string
  readonly machineId: string
  readonly workspaceId: string
  readonly environmentId: string
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
type Refusal =
  | { readonly _tag: "BudgetReached" }
  | { readonly _tag: "VolumeAttached" }
  | CreditInsufficient
  | IdempotencyInProgress

interface AdmissionRow {
  readonly ord: number
  readonly refused:
    | "admitted"
    | "repeated"
    | "taken_over"
    | "budget_reached"
    | "volume_attached"
    | "insufficient_credits"
    | null
  readonly available: bigint | null
}

const ADMIT = `with input as materialized (select * from json_to_recordset($1::json) as r(ord int4, job_id uuid, machine_id uuid, workspace_id uuid,
    environment_id uuid, volume_id uuid, name text, spec json, machine_spec json, labels jsonb, sealed text, price int8, amount int8, launch boolean, wait_minutes int4,
    attempt_key text, locked_until timestamptz)
  ), own as materialized (select k.attempt_id from input i join idempotency_keys k on k.workspace_id = i.workspace_id and k.key = i.attempt_key
    where k.attempt_id = i.job_id and k.locked_until = i.locked_until and k.response is null order by k.attempt_id for share of k
  ), acc as materialized (select a.id, a.balance, a.held, a.balance - a.held as available from accounts a
    where a.id = any(array(select workspace_id from input)) and (select count(*) from own) >= 0 order by a.id for update
  ), vol as materialized (select v.id, v.environment_id from volumes v where v.id = any(array(select volume_id from input where volume_id is not null))
    and (select count(*) from acc) >= 0 and v.attached_to is null order by v.id for update
  ), env as materialized (select e.id, e.workspace_id, budget_reached(e, $4::date) as reached from environments e
    where e.id = any(array(select environment_id from input))
  ), judged as materialized (select i.*, acc.available, case
      when (select d.id from jobs d where d.id = i.job_id and d.machine_id = i.machine_id) is not null then 'admitted'
      when (select d.id from jobs d where d.id = i.job_id) is not null then 'repeated'
      when i.attempt_key is not null and own.attempt_id is null then 'taken_over'
      when env.id is null or env.reached then 'budget_reached'
      when i.volume_id is not null and vol.id is null then 'volume_attached'
      when acc.id is null then 'insufficient_credits' end as refused
    from input i left join own on own.attempt_id = i.job_id left join acc on acc.id = i.workspace_id left join env on env.id = i.environment_id and env.workspace_id = i.workspace_id
      left join vol on vol.id = i.volume_id and vol.environment_id = i.environment_id
  ), summed as materialized (select j.*, admit(case when j.refused is null then j.amount end, j.available)
      over (partition by j.workspace_id order by j.ord rows unbounded preceding) as spent from judged j
  ), decided as materialized (select s.*, s.refused is null
      and s.spent > lag(s.spent, 1, 0::int8) over (partition by s.workspace_id order by s.ord) as ok from summed s
  ), ok as materialized (select * from decided where ok
  ), h as (insert into holds (id, account_id, amount) select job_id, workspace_id, amount from ok
  ), u as (update accounts a set balance = acc.balance, held = acc.held + t.total
    from acc join (select workspace_id, sum(amount)::int8 as total from ok group by workspace_id) t on t.workspace_id = acc.id
    where a.id = acc.id and a.id = any(array(select workspace_id from input))
  ), w as (update volumes v set attached_to = ok.machine_id from ok where v.id = ok.volume_id
  ), j as (insert into jobs (id, workspace_id, environment_id, machine_id, name, status, spec, price, volume_id, labels, created_at, wake_at)
    select job_id, workspace_id, environment_id, machine_id, name, 'queued', spec, price, volume_id, labels, $2::timestamptz,
      $2::timestamptz + wait_minutes * interval '1 minute' from ok
  ), m as (insert into machines (id, workspace_id, environment_id, job_id, name, status, spec, price, volume_id, sealed, requested_at, created_at,
      wake_at, lease_by, lease_until, fence)
    select machine_id, workspace_id, environment_id, job_id, name, 'wanted', machine_spec, price, volume_id, decode(sealed, 'base64'),
      case when launch then $2::timestamptz end, $2::timestamptz, case when launch then $5::timestamptz else $6::timestamptz end,
      case when launch then $3 end, case when launch then $5::timestamptz end, case when launch then 1 else 0 end from ok)
  select ord, case when ok then null else coalesce(refused, 'insufficient_credits') end as refused,
    available - lag(spent, 1, 0::int8) over (partition by workspace_id order by ord) as available from decided order by ord`

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
            return Exit.fail({ _tag: "BudgetReached" })
          case "volume_attached":
            return Exit.fail({ _tag: "VolumeAttached" })
          default:
            return Exit.fail(new CreditInsufficient({ required: admission.hold, available: row?.available ?? 0n }))
        }
      }

      const commits = yield* GroupCommit.make<Admission, Admitted, Refusal, never>(
        {
          name: "job_admissions",
          maxRows: MAX_ROWS,
          key: (admission) => admission.workspaceId,
          // One volume goes to one job: two that want it never share a statement. Nor do two runs of one request.
          alone: (admission) => admission.volumeId ?? admission.jobId
        },
        (admissions) => {
          const at = clock.currentTimeMillisUnsafe()
          return retryUnconfirmed(
            sql.unsafe<AdmissionRow>(ADMIT, [
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
              const byOrd = new Map(rows.map((row) => [row.ord, row]))
              return admissions.map((admission, ord) => verdict(admission, byOrd.get(ord), at))
            })
          )
        }
      )
      return JobAdmissionStore.of({ admit: commits.submit })
    })
  )
}
