/** Reading machines for their workspace. Every statement is scoped to the caller's environment. */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import * as PgClient from "@effect/sql-pg/PgClient"
import type { Principal } from "../access/Principal.ts"
import { type Page, type PageRequest, pageOf } from "../database/Page.ts"
import { GONE } from "../database/ReconciledStore.ts"
import { rowsOf, totalOf } from "../database/RowDecoder.ts"
import type { Machine } from "./Machine.ts"
import { costAt } from "./MachineLifecycle.ts"
import { MachineRow } from "./MachineRow.ts"

/** The public fields of a machine, without its sealed variables and its facts. */
const COLUMNS = "id, name, status, spec, job_id, volume_id, price, running_at, stopped_at, created_at"
const Row = Schema.Struct({
  id: MachineRow.fields.id,
  name: MachineRow.fields.name,
  status: MachineRow.fields.status,
  spec: MachineRow.fields.spec,
  job_id: MachineRow.fields.job_id,
  volume_id: MachineRow.fields.volume_id,
  price: MachineRow.fields.price,
  running_at: MachineRow.fields.running_at,
  stopped_at: MachineRow.fields.stopped_at,
  created_at: MachineRow.fields.created_at
})
const machineRows = rowsOf("MachineListStore", Row)
const knownRows = rowsOf("MachineListStore", Schema.Struct({ id: Schema.String, gone: Schema.Boolean }))

const ms = (at: Date | null): number | null => at?.getTime() ?? null

const machineOf = (row: typeof Row.Type, now: number): Machine => ({
  id: row.id,
  name: row.name,
  status: row.status,
  spec: row.spec,
  jobId: row.job_id,
  volumeId: row.volume_id,
  price: row.price,
  cost: costAt(row.price, { runningAt: ms(row.running_at), stoppedAt: ms(row.stopped_at) }, now),
  createdAt: row.created_at,
  runningAt: row.running_at,
  stoppedAt: row.stopped_at
})

export class MachineListStore extends Context.Service<
  MachineListStore,
  {
    readonly find: (principal: Principal, id: string) => Effect.Effect<Machine | undefined>
    readonly list: (principal: Principal, page: PageRequest) => Effect.Effect<Page<Machine>>
    /** Of these ids, those that have a row, and whether that row's machine is gone. */
    readonly known: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, { readonly gone: boolean }>>
  }
>()("@sluice/domain/machines/MachineListStore") {
  static readonly layer = Layer.effect(
    MachineListStore,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const clock = yield* Clock.Clock

      const find = Effect.fnUntraced(function* (principal: Principal, id: string) {
        const found = yield* sql.unsafe(
          `select ${COLUMNS} from machines where id = $1 and workspace_id = $2 and environment_id = $3`,
          [id, principal.workspaceId, principal.environmentId]
        )
        const [row] = machineRows(found)
        return row === undefined ? undefined : machineOf(row, clock.currentTimeMillisUnsafe())
      }, Effect.orDie)

      const list = Effect.fnUntraced(function* (principal: Principal, page: PageRequest) {
        const scope = [principal.workspaceId, principal.environmentId]
        const [rows, counts] = yield* Effect.all([
          sql.unsafe(
            `select ${COLUMNS} from machines where workspace_id = $1 and environment_id = $2 and ($3::uuid is null or id < $3) order by id desc limit $4`,
            [...scope, page.after ?? null, page.limit + 1]
          ),
          sql.unsafe(`select count(*) as total from machines where workspace_id = $1 and environment_id = $2`, scope)
        ])
        const now = clock.currentTimeMillisUnsafe()
        return pageOf(
          machineRows(rows).map((row) => machineOf(row, now)),
          page,
          totalOf(counts)
        )
      }, Effect.orDie)

      const known = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
        const rows = yield* sql.unsafe(
          `select id, status in ${GONE} as gone from machines
             where id = any(array(select value::uuid from json_array_elements_text($1::json)))`,
          [JSON.stringify(ids)]
        )
        return new Map(knownRows(rows).map((row) => [row.id, { gone: row.gone }]))
      }, Effect.orDie)

      return MachineListStore.of({ find, list, known })
    })
  )
}
