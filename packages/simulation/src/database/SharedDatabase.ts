/**
 * The one database of a run, shared by all its processes: it outlives each of them. Every process has wires of its own,
 * which end with it as a lost connection would.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { BatchSql, RelaxedSql } from "@sluice/domain/database/Clients"
import { openEmpty } from "@sluice/server/database/Database"
import { executeFramesNow } from "@sluice/server/database/PgliteAnswer"
import { makePgliteClient } from "@sluice/server/database/PgliteClient"
import { makePgliteBackend } from "@sluice/server/database/PgliteStream"
import type { Gate } from "@sluice/server/database/PgliteWire"
import { worldTables } from "@sluice/simulator/world/WorldMigrations"
import { Context, Effect, Layer } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import type { Process } from "../driver/Process.ts"
import { emptyTables, tidy } from "./TablesStore.ts"

const CONNECTIONS = 8

/** Opens a database in memory with the newest schema and the world's tables. */
export const open = Effect.gen(function* () {
  const db = yield* Effect.promise(() => openEmpty(worldTables))
  // The database's own timers are those of the machine, also when one of them sets another.
  let depth = 0
  const within = <A>(act: () => A): A => {
    depth++
    try {
      return act()
    } finally {
      depth--
    }
  }
  let changes = 0
  const backend = makePgliteBackend((bytes) => {
    const answer = within(() => executeFramesNow(db, bytes))
    if (touchedRows(answer)) changes++
    return answer
  })

  return {
    /** Empties all tables. */
    reset: Effect.promise(() => emptyTables(db)),
    inTransaction: backend.inTransaction,
    /** Grows with every statement of a process that may have changed a row. */
    changes: () => changes,
    /** Whether the database itself is running just now. */
    isRunning: () => depth > 0,
    within,
    /** One query outside the run, while nothing runs. */
    rows: async <Row>(text: string, parameters: ReadonlyArray<unknown> = []): Promise<ReadonlyArray<Row>> => {
      depth++
      try {
        return (await db.query<Row>(text, [...parameters])).rows
      } finally {
        depth--
      }
    },
    /** What the upkeep of a server does in its own time (EmbeddedUpkeepStore.ts): dead rows and the log do not pile up. */
    tidy: async (): Promise<void> => {
      depth++
      try {
        await tidy(db)
      } finally {
        depth--
      }
    },
    close: Effect.promise(() => db.close()),
    /** Changes the schema between two runs. */
    change: async (statements: string): Promise<void> => void (await db.exec(statements)),
    /** A client outside the run, for checks between steps. */
    outside: Effect.provide(
      makePgliteClient(
        backend.stream((_wire, batch, pass) => pass(batch)),
        1
      ),
      Reactivity.layer
    ),
    /** The clients of a process. `gate` decides about each statement. */
    clients: (process: Process, gate: Gate) =>
      Layer.effectContext(
        Effect.map(
          makePgliteClient(() => {
            const wire = backend.stream(gate)()
            process.whenKilled(() => {
              wire.removeAllListeners()
              wire.on("error", () => {})
              wire.destroy()
            })
            return wire
          }, CONNECTIONS),
          (client) =>
            Context.make(PgClient.PgClient, client).pipe(
              Context.add(SqlClient.SqlClient, client),
              Context.add(BatchSql, client),
              Context.add(RelaxedSql, client)
            )
        )
      ).pipe(Layer.provide(Reactivity.layer))
  }
})

export type SharedDatabase = Effect.Success<typeof open>

const COMMAND_COMPLETE = 0x43

/** Whether a statement of the batch wrote or found a row: `UPDATE 0` and the like changed nothing. */
const touchedRows = (answer: Uint8Array): boolean => {
  const view = new DataView(answer.buffer, answer.byteOffset, answer.byteLength)
  for (let at = 0, end = 0; at < answer.length; at = end) {
    end = at + 1 + view.getInt32(at + 1)
    // The tag ends with a space, the count and NUL.
    if (answer[at] === COMMAND_COMPLETE && !(answer[end - 2] === 0x30 && answer[end - 3] === 0x20)) return true
  }
  return false
}
