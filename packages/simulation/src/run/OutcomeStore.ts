/** What the database says at the end of a run, for the report, and what stands in the books while it goes on. */
import { REVENUE_ACCOUNT } from "@sluice/domain/billing/Ledger"
import type { SharedDatabase } from "../database/SharedDatabase.ts"
import { ENDED, GONE } from "../invariants/InvariantStore.ts"
import type { JobBar, MachineRow, MoneyPoint } from "../report/Outcome.ts"

const usd = (nano: bigint | number | null): number | null => (nano === null ? null : Number(nano) / 1e9)
const since = (epoch: number, at: Date | null): number | null => (at === null ? null : at.getTime() - epoch)

export const jobBars = async (database: SharedDatabase, epoch: number): Promise<ReadonlyArray<JobBar>> => {
  const rows = await database.rows<{
    readonly name: string
    readonly workspace: string
    readonly gpu_type: string
    readonly gpu_count: number
    readonly status: string
    readonly status_reason: string | null
    readonly created_at: Date
    readonly started_at: Date | null
    readonly ended_at: Date | null
    readonly cost: bigint | null
  }>(`select j.name, w.name as workspace, j.spec->>'gpuType' as gpu_type, (j.spec->>'gpuCount')::int4 as gpu_count, j.status,
      j.status_reason, j.created_at, j.started_at, j.ended_at, j.cost
    from jobs j join workspaces w on w.id = j.workspace_id order by j.created_at, j.id`)
  return rows.map((row) => ({
    id: row.name,
    workspace: row.workspace,
    gpuType: row.gpu_type,
    gpuCount: row.gpu_count,
    status: row.status,
    reason: row.status_reason,
    createdAt: since(epoch, row.created_at)!,
    startedAt: since(epoch, row.started_at),
    endedAt: since(epoch, row.ended_at),
    costUsd: usd(row.cost)
  }))
}

export const machineRows = async (database: SharedDatabase, epoch: number): Promise<ReadonlyArray<MachineRow>> => {
  const rows = await database.rows<{
    readonly id: string
    readonly gpu_type: string
    readonly gpu_count: number
    readonly running_at: Date | null
    readonly stopped_at: Date | null
    readonly job: string | null
  }>(`select m.id, m.spec->>'gpuType' as gpu_type, (m.spec->>'gpuCount')::int4 as gpu_count, m.running_at, m.stopped_at, j.name as job
    from machines m left join jobs j on j.id = m.job_id order by m.created_at, m.id`)
  return rows.map((row) => ({
    id: row.id,
    gpuType: row.gpu_type,
    gpuCount: row.gpu_count,
    runningAt: since(epoch, row.running_at),
    stoppedAt: since(epoch, row.stopped_at),
    jobId: row.job
  }))
}

export const moneyPoint = async (database: SharedDatabase, at: number): Promise<MoneyPoint> => {
  const [row] = await database.rows<{
    readonly held: bigint | null
    readonly revenue: bigint | null
  }>(`select sum(held)::int8 as held,
      (select sum(amount)::int8 from entries where account_id = '${REVENUE_ACCOUNT}') as revenue
    from accounts`)
  return {
    at,
    heldUsd: usd(row?.held ?? 0n)!,
    revenueUsd: usd(row?.revenue ?? 0n)!
  }
}

/** Jobs and videos that have not ended, machines that are not gone, money that is held, videos to be forgotten. */
export const alive = async (database: SharedDatabase): Promise<number> => {
  const [row] = await database.rows<{ readonly n: bigint }>(
    `select (select count(*) from jobs where status not in ${ENDED})
       + (select count(*) from machines where status not in ${GONE})
       + (select count(*) from videos where ended_at is null or deleted_at is not null)
       + (select count(*) from volume_deletions)
       + (select count(*) from holds where state = 'open') as n`
  )
  return Number(row?.n ?? 0)
}
