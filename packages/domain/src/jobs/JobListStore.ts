/** Reading jobs. Every statement is scoped to the caller's environment. */
import { Clock, Context, Effect, Layer } from "effect"
import * as PgClient from "@effect/sql-pg/PgClient"
import type { Principal } from "../access/Principal.ts"
import { type Page, type PageRequest, pageOf } from "../database/Page.ts"
import { rowsOf, totalOf } from "../database/RowDecoder.ts"
import type { Job, JobStatus } from "./Job.ts"
import { jobOf, JobWithMachineRow } from "./JobRow.ts"
import { MACHINE_COLUMNS } from "./JobStore.ts"

export interface JobFilter {
  readonly status: JobStatus | undefined
  readonly name: string | undefined
  readonly label: readonly [key: string, value: string] | undefined
  readonly createdAfter: Date | undefined
  readonly createdBefore: Date | undefined
}

const jobRows = rowsOf("JobListStore", JobWithMachineRow)

const WHERE = `c.workspace_id = $1 and c.environment_id = $2 and ($3::text is null or c.status = $3) and ($4::text is null or c.name = $4)
  and ($5::jsonb is null or c.labels @> $5) and ($6::timestamptz is null or c.created_at > $6) and ($7::timestamptz is null or c.created_at < $7)`

export class JobListStore extends Context.Service<
  JobListStore,
  {
    readonly find: (principal: Principal, id: string) => Effect.Effect<Job | undefined>
    readonly list: (principal: Principal, filter: JobFilter, page: PageRequest) => Effect.Effect<Page<Job>>
  }
>()("@sluice/domain/jobs/JobListStore") {
  static readonly layer = Layer.effect(
    JobListStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const clock = yield* Clock.Clock
      const now = () => clock.currentTimeMillisUnsafe()

      const find = Effect.fnUntraced(function* (principal: Principal, id: string) {
        const row = jobRows(
          yield* sql.unsafe(
            `select c.*, ${MACHINE_COLUMNS} from jobs c where c.id = $1 and c.workspace_id = $2 and c.environment_id = $3`,
            [id, principal.workspaceId, principal.environmentId]
          )
        )[0]
        return row === undefined ? undefined : jobOf(row, now())
      }, Effect.orDie)

      const list = Effect.fnUntraced(function* (principal: Principal, filter: JobFilter, page: PageRequest) {
        const where = [
          principal.workspaceId,
          principal.environmentId,
          filter.status ?? null,
          filter.name ?? null,
          filter.label === undefined ? null : JSON.stringify(Object.fromEntries([filter.label])),
          filter.createdAfter ?? null,
          filter.createdBefore ?? null
        ]
        const [rows, counts] = yield* Effect.all([
          sql.unsafe(
            `select c.*, ${MACHINE_COLUMNS} from jobs c where ${WHERE} and ($8::uuid is null or c.id < $8) order by c.id desc limit $9`,
            [...where, page.after ?? null, page.limit + 1]
          ),
          sql.unsafe(`select count(*) as total from jobs c where ${WHERE}`, where)
        ])
        const at = now()
        return pageOf(
          jobRows(rows).map((row) => jobOf(row, at)),
          page,
          totalOf(counts)
        )
      }, Effect.orDie)

      return JobListStore.of({ find, list })
    })
  )
}
