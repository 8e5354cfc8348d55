/**
 * Guards that see every change of a row, also one that is gone before anybody looks: triggers that write down what must not
 * happen and let it happen. In a simulation alone; whoever looks reads them with the rest.
 *
 * A change that is rolled back never was, and neither was its finding.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { ENDED, GONE, INDEXES } from "./InvariantStore.ts"

export interface Guard {
  readonly table: string
  readonly on: "insert" | "update" | "delete"
  /** Over `old` and `new`; undefined: never is this done. */
  readonly when?: string
  readonly says: string
}

export interface Guarded {
  readonly number: number
  readonly guards: ReadonlyArray<Guard>
}

const never = (table: string, says: string): ReadonlyArray<Guard> => [
  { table, on: "update", says: `${says} was changed` },
  { table, on: "delete", says: `${says} was deleted` }
]
const update = (table: string, when: string, says: string): Guard => ({ table, on: "update", when, says })
const differs = (column: string) => `new.${column} is distinct from old.${column}`
const differ = (...columns: ReadonlyArray<string>) => `(${columns.map(differs).join(" or ")})`
/** Set once, never unset. */
const setOnce = (...columns: ReadonlyArray<string>) =>
  `(${columns.map((column) => `old.${column} is not null and ${differs(column)}`).join(" or ")})`

const rank = (row: string) => `array_position(array['queued', 'starting', 'running'], ${row}.status)`
const short = `new.balance < 0 or new.held < 0 or new.balance < new.held`
const FACTS = [
  "running_at",
  "command_started_at",
  "command_exited_at",
  "exit_code",
  "exit_why",
  "stop_requested_at",
  "stopped_at"
]

const VIDEO = ["status", "percent", "failure", "reference", "cost", "ended_at"]
const VIDEO_TERMS = [
  "price",
  "model",
  "prompt",
  "size",
  "seconds",
  "workspace_id",
  "environment_id",
  "key_id",
  "created_at"
]

export const guards = {
  funds: [
    update("accounts", short, "account has less than is held"),
    { table: "accounts", on: "insert", when: short, says: "account has less than is held" }
  ],
  booksOnlyGrow: [...never("entries", "entry"), ...never("txns", "transaction"), ...never("usage", "usage")],
  holdResolvedOnce: [
    update(
      "holds",
      `old.state <> 'open' and ${differ("state", "amount", "account_id")}`,
      "hold changed after it was resolved"
    ),
    { table: "holds", on: "delete", when: `old.state = 'open'`, says: "open hold was deleted" }
  ],
  terminalIsFinal: [
    update("jobs", `old.status in ${ENDED}`, "terminal job changed"),
    { table: "jobs", on: "delete", says: "job was deleted" }
  ],
  jobGoesForward: [
    update(
      "jobs",
      `${setOnce("started_at", "cancel_requested_at", "stop_reason", "stop_at")} or ${rank("new")} < ${rank("old")}`,
      "job went back"
    ),
    update(
      "jobs",
      `${differ("name", "labels", "machine_id", "price", "workspace_id", "environment_id", "volume_id", "created_at")}
        or new.spec::text <> old.spec::text`,
      "terms of a job changed"
    )
  ],
  factsOnlyGrow: [
    update(
      "machines",
      `old.status not in ${GONE} and (${setOnce(...FACTS)} or new.output_bytes < old.output_bytes)`,
      "fact of a machine changed"
    ),
    update(
      "machines",
      differ("job_id", "price", "workspace_id", "environment_id", "volume_id"),
      "terms of a machine changed"
    ),
    { table: "machines", on: "delete", says: "machine was deleted" }
  ],
  goneIsFinal: [
    update(
      "machines",
      `old.status in ${GONE} and ${differ("status", "failure", "requested_at", "absent_since", ...FACTS)}`,
      "machine changed after it was gone"
    )
  ],
  volumeIsNotStolen: [
    update(
      "volumes",
      `old.attached_to is not null and new.attached_to is not null and ${differs("attached_to")}`,
      "volume went from machine to machine"
    ),
    { table: "volumes", on: "delete", when: `old.attached_to is not null`, says: "attached volume was deleted" }
  ],
  endedVideoIsFinal: [
    update("videos", `old.ended_at is not null and ${differ(...VIDEO, ...VIDEO_TERMS)}`, "ended video changed"),
    update("videos", setOnce("deleted_at"), "deleted video changed"),
    {
      table: "videos",
      on: "delete",
      when: "old.ended_at is null or old.deleted_at is null",
      says: "video went that nobody deleted"
    }
  ],
  videoGoesForward: [
    update(
      "videos",
      `old.ended_at is null and (new.percent < old.percent or ${setOnce("reference")} or ${differ(...VIDEO_TERMS)}
        or (new.status = 'queued' and old.status <> 'queued') or (new.deleted_at is not null and new.ended_at is null))`,
      "video went back"
    )
  ],
  claimsGoForward: ["jobs", "machines", "environments", "videos"].map((table) =>
    update(table, `new.fence < old.fence or new.events < old.events`, "claim went back")
  ),
  outputIsNotRewritten: [{ table: "output_chunks", on: "update", says: "stored output was changed" }]
} satisfies Record<string, ReadonlyArray<Guard>>

const FINDINGS = `create table if not exists simulation_violations (
    seq int8 generated always as identity primary key, number int4 not null, found text not null)`

const REPORT = `create or replace function simulation_found() returns trigger language plpgsql as $$
  declare r jsonb := case when tg_op = 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
  begin
    insert into simulation_violations (number, found) values (tg_argv[0]::int4,
      tg_argv[1] || ': ' || tg_table_name || ' ' || coalesce(r->>'id', r->>'seq', r->>'machine_id', ''));
    return null;
  end $$`

/** Puts the guards before all tables; harmless where they are. */
export const installGuards = (sql: PgClient.PgClient, guarded: ReadonlyArray<Guarded>): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* sql.unsafe(FINDINGS)
    yield* sql.unsafe(REPORT)
    for (const index of INDEXES) yield* sql.unsafe(index)
    for (const { number, guards } of guarded) {
      for (const [index, { table, on, when, says }] of guards.entries()) {
        yield* sql.unsafe(`create or replace trigger simulation_${number}_${index} after ${on} on ${table} for each row
          ${when === undefined ? "" : `when (${when})`} execute function simulation_found(${number}, '${says}')`)
      }
    }
  }).pipe(Effect.orDie)
