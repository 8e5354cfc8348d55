/**
 * Rows of a small healthy service by hand, and one change or more for each invariant that breaks it and nothing else.
 * What a constraint of the schema forbids takes the constraint away first: the check does not rely on it.
 */
import type { EndContext } from "../../../src/invariants/EndChecksStore.ts"

export const NOW = Date.UTC(2027, 2, 15, 12)
export const at = (minutes: number) => `'${new Date(NOW + minutes * 60_000).toISOString()}'::timestamptz`
export const id = (n: number) => `00000000-0000-7000-9000-${String(n).padStart(12, "0")}`
export const q = (n: number) => `'${id(n)}'::uuid`

export const [REVENUE, FUNDING] = [
  `'00000000-0000-7000-8000-000000000001'::uuid`,
  `'00000000-0000-7000-8000-000000000002'::uuid`
]
/** A workspace, its environment, a volume, a request; jobs 10 and up, each with the machine 100 above it. */
export const [W, E, V, CHAT] = [q(1), q(2), q(3), q(4)]
export const JOB = { done: id(10), refused: id(11), runs: id(12), waits: id(13) }
const [DONE, REFUSED, RUNS, WAITS] = [q(10), q(11), q(12), q(13)]
const [DONE_M, REFUSED_M, RUNS_M, WAITS_M] = [q(110), q(111), q(112), q(113)]
const SPEC = `'{"maxRuntimeMinutes":60,"capacityWaitMinutes":60,"maxCostNanoUsd":null}'`

const job = (n: number, status: string, more: Record<string, string> = {}) => {
  const columns = {
    id: q(n),
    workspace_id: W,
    environment_id: E,
    machine_id: q(n + 100),
    name: `'job-${n}'`,
    status: `'${status}'`,
    spec: SPEC,
    price: "3600000",
    created_at: at(-30),
    wake_at: at(10),
    ...more
  }
  return `insert into jobs (${Object.keys(columns).join(", ")}) values (${Object.values(columns).join(", ")})`
}
const machine = (n: number, status: string, more: Record<string, string> = {}) => {
  const columns = {
    id: q(n),
    workspace_id: W,
    environment_id: E,
    job_id: q(n - 100),
    name: `'m'`,
    status: `'${status}'`,
    spec: SPEC,
    price: "3600000",
    created_at: at(-30),
    wake_at: at(10),
    ...more
  }
  return `insert into machines (${Object.keys(columns).join(", ")}) values (${Object.values(columns).join(", ")})`
}
const world = (key: string, stopped: string, more = "null") =>
  `insert into sim_machines (key, gpu_type, region, gpu_count, volume_id, launched_at, stop_at, stopped_at, freed, saved) values
     ('${key}', 'A100', 'eu-north', 1, ${more}, ${at(-20)}, ${stopped}, ${stopped}, ${stopped} is not null, ${stopped} is not null)`

/** A job that ran 10 min (600,000 nano-USD), one that was refused, one that runs with a volume, one that waits; a chat of 1,000. */
export const rows: ReadonlyArray<string> = [
  `insert into workspaces (id, name, created_at) values (${W}, 'w', ${at(-60)})`,
  `insert into environments (id, workspace_id, name, is_default, month, month_spent, created_at, wake_at) values (${E}, ${W}, 'default', true, '2027-03-01', 601000, ${at(-60)}, ${at(60)})`,
  `insert into accounts (id, balance, held) values (${W}, 99399000, 9005000)`,
  `insert into txns (id, kind, description, resource_id, created_at) values (${q(5)}, 'credit', 'c', null, ${at(-60)}), (${DONE}, 'machine', 'm', '${JOB.done}', ${at(-10)}), (${CHAT}, 'inference', 'i', 'r', ${at(-5)})`,
  `insert into entries (txn_id, account_id, amount) values (${q(5)}, ${W}, 100000000), (${q(5)}, ${FUNDING}, -100000000), (${DONE}, ${W}, -600000), (${DONE}, ${REVENUE}, 600000), (${CHAT}, ${W}, -1000), (${CHAT}, ${REVENUE}, 1000)`,
  `insert into usage (id, workspace_id, environment_id, key_id, model, tokens_in, tokens_out, cost, at) values (${CHAT}, ${W}, ${E}, ${q(6)}, 'm', 1, 1, 1000, ${at(-5)})`,
  `insert into holds (id, account_id, amount, state, expires_at) values (${DONE}, ${W}, 4500000, 'settled', null), (${REFUSED}, ${W}, 4500000, 'released', null),
     (${RUNS}, ${W}, 4500000, 'open', null), (${WAITS}, ${W}, 4500000, 'open', null), (${q(7)}, ${W}, 5000, 'open', ${at(20)}), (${CHAT}, ${W}, 2000, 'settled', ${at(20)})`,
  job(10, "succeeded", { started_at: at(-19), ended_at: at(-10), exit_code: "0", cost: "600000" }),
  job(11, "failed", { ended_at: at(-29) }),
  job(12, "running", { started_at: at(-19), volume_id: V }),
  job(13, "queued"),
  machine(110, "stopped", {
    running_at: at(-20),
    command_started_at: at(-19),
    command_exited_at: at(-11),
    exit_code: "0",
    exit_why: `'exit'`,
    stop_requested_at: at(-11),
    stopped_at: at(-10),
    output_bytes: "4",
    volume_id: V
  }),
  machine(111, "failed", { stopped_at: at(-29), failure: `'refused'` }),
  machine(112, "running", { running_at: at(-20), command_started_at: at(-19), output_bytes: "4", volume_id: V }),
  machine(113, "wanted"),
  `insert into volumes (id, workspace_id, environment_id, name, region, size_gb, attached_to, created_at) values (${V}, ${W}, ${E}, 'v', 'eu-north', 1, ${RUNS_M}, ${at(-60)})`,
  `insert into output_chunks (machine_id, start, bytes) values (${DONE_M}, 0, 'out\\012'), (${RUNS_M}, 0, 'out\\012')`,
  `insert into sim_volumes (volume_id, version) values ('${id(3)}', '${id(110)}')`,
  `insert into sim_files (volume_id, version, path, kind, mode, bytes, target) values ('${id(3)}', '${id(110)}', 'ran.txt', 'File', 420, 'job-10\\012', '')`,
  world(id(110), at(-10)),
  world(id(112), "null", `'${id(3)}'`),
  `update sim_capacity set used = 1 where gpu_type = 'A100' and region = 'eu-north'`
]

export interface Break {
  readonly number: number
  readonly change: ReadonlyArray<string>
  /** Asks for the end of the run as well. */
  readonly end?: Partial<EndContext>
}

export const breaks = (number: number, ...change: ReadonlyArray<string>): Break => ({ number, change })
/** What follows is not seen by the guards: the row was like this from its beginning. */
const UNGUARDED = `set local session_replication_role = replica`
const respec = (job: string, run: number, wait: number, more = "") =>
  `update jobs set spec = '{"maxRuntimeMinutes":${run},"capacityWaitMinutes":${wait}${more}}' where id = ${job}`

/** The run ended well: what still goes on is taken away. */
const OVER = [
  UNGUARDED,
  `update holds set state = 'released' where state = 'open'`,
  `update accounts set held = 0`,
  `delete from videos where ended_at is null`,
  `update volumes set attached_to = null`,
  `update jobs set status = 'failed', ended_at = ${at(-1)} where id = ${WAITS}`,
  `update machines set status = 'failed', stopped_at = ${at(-1)} where id = ${WAITS_M}`,
  `delete from jobs where id = ${RUNS}`,
  `delete from machines where id in (${RUNS_M})`,
  `delete from output_chunks where machine_id = ${RUNS_M}`,
  `delete from sim_machines where key = '${id(112)}'`,
  `update sim_capacity set used = 0 where gpu_type = 'A100' and region = 'eu-north'`
]
export const ended = (number: number, end: Partial<EndContext>, ...change: ReadonlyArray<string>): Break => ({
  number,
  change: [
    ...OVER,
    `delete from jobs where id in (${WAITS}, ${REFUSED})`,
    `delete from machines where id in (${WAITS_M}, ${REFUSED_M})`,
    ...change
  ],
  end
})

export const BREAKS: ReadonlyArray<Break> = [
  breaks(1, `insert into entries (txn_id, account_id, amount) values (${CHAT}, ${REVENUE}, 7)`),
  breaks(2, `update accounts set balance = balance + 1`),
  breaks(3, `update accounts set held = held + 1`),
  breaks(
    4,
    `alter table accounts drop constraint sufficient_funds`,
    `update accounts set balance = 1`,
    `update accounts set balance = (select sum(amount)::int8 from entries where account_id = ${W})`
  ),
  breaks(5, `update entries set balance_after = 1 where txn_id = ${DONE}`),
  breaks(5, `update txns set description = 'other' where id = ${DONE}`),
  breaks(
    6,
    `insert into holds (id, account_id, amount) values (${q(8)}, ${W}, 5)`,
    `update accounts set held = held + 5`
  ),
  breaks(6, `update holds set expires_at = ${at(-2)} where id = ${q(7)}`),
  breaks(7, `update holds set amount = amount - 1 where id = ${DONE}`),
  breaks(7, `delete from holds where id = ${q(7)}`, `update accounts set held = held - 5000`),
  breaks(
    8,
    `set local session_replication_role = replica`,
    `update machines set stopped_at = stopped_at + interval '1 second' where id = ${DONE_M}`
  ),
  breaks(
    9,
    `insert into txns (id, kind, description, resource_id, created_at) values (${q(8)}, 'machine', 'm', '${JOB.done}', ${at(-9)})`,
    `insert into entries (txn_id, account_id, amount) values (${q(8)}, ${W}, -5), (${q(8)}, ${REVENUE}, 5)`,
    `update accounts set balance = balance - 5`
  ),
  breaks(
    10,
    `insert into usage (id, workspace_id, environment_id, key_id, model, tokens_in, tokens_out, cost, at) values (${q(8)}, ${W}, ${E}, ${q(6)}, 'm', 1, 1, 5, ${at(-5)})`,
    `update environments set month_spent = month_spent + 5`
  ),
  breaks(11, `update environments set month_spent = month_spent + 1`),
  breaks(11, `update environments set reserved = reserved + 1`),
  breaks(
    12,
    `alter table jobs disable trigger jobs_terminal`,
    `update jobs set cancel_requested_at = ${at(0)} where id = ${DONE}`
  ),
  breaks(13, respec(RUNS, 60, 60, `,"description":"new"`)),
  breaks(13, `update jobs set started_at = ${at(-18)} where id = ${RUNS}`),
  breaks(14, `alter table jobs drop constraint jobs_check`, `update jobs set ended_at = ${at(-1)} where id = ${RUNS}`),
  breaks(15, `update jobs set exit_code = 3 where id = ${RUNS}`),
  breaks(
    16,
    `set local session_replication_role = replica`,
    `update jobs set status = 'failed', ended_at = ${at(-29)} where id = ${WAITS}`,
    `update holds set state = 'released' where id = ${WAITS}`,
    `update accounts set held = held - 4500000`
  ),
  breaks(17, `update jobs set cancel_requested_at = ${at(-1)} where id = ${RUNS}`),
  breaks(17, UNGUARDED, respec(RUNS, 5, 60)),
  breaks(17, UNGUARDED, respec(WAITS, 60, 5)),
  breaks(17, UNGUARDED, respec(RUNS, 60, 60, `,"maxCostNanoUsd":"1000"`)),
  breaks(17, `update holds set amount = 1000 where id = ${RUNS}`, `update accounts set held = held - 4499000`),
  breaks(18, `update jobs set wake_at = ${at(-1)} where id = ${WAITS}`),
  breaks(18, `update machines set wake_at = ${at(-1)} where id = ${RUNS_M}`),
  ended(19, { accepted: [JOB.done, id(99)] }),
  breaks(20, machine(200, "failed", { job_id: WAITS, stopped_at: at(-1) })),
  breaks(21, job(20, "failed", { machine_id: REFUSED_M, ended_at: at(-29) })),
  breaks(22, `update machines set running_at = ${at(-20.5)} where id = ${RUNS_M}`),
  breaks(23, `update machines set exit_why = 'timeout' where id = ${REFUSED_M}`),
  breaks(24, `update machines set command_exited_at = ${at(-25)} where id = ${RUNS_M}`),
  breaks(
    25,
    `set local session_replication_role = replica`,
    `update machines set requested_at = ${at(-30)} where id = ${REFUSED_M}`
  ),
  breaks(
    26,
    world(id(113), "null"),
    `update sim_capacity set used = 2 where gpu_type = 'A100' and region = 'eu-north'`
  ),
  breaks(
    27,
    world(id(300), "null"),
    `update sim_capacity set used = 2 where gpu_type = 'A100' and region = 'eu-north'`
  ),
  breaks(
    28,
    `update sim_machines set stopped_at = null, freed = false where key = '${id(110)}'`,
    `update sim_capacity set used = 2 where gpu_type = 'A100' and region = 'eu-north'`
  ),
  breaks(29, `update sim_capacity set used = 2 where gpu_type = 'A100' and region = 'eu-north'`),
  breaks(30, `update jobs set events = -1 where id = ${WAITS}`),
  breaks(31, `update volumes set attached_to = ${DONE_M}`, `update volumes set attached_to = ${RUNS_M}`),
  breaks(31, `update volumes set attached_to = null`, `update volumes set attached_to = ${DONE_M}`),
  breaks(32, `insert into output_chunks (machine_id, start, bytes) values (${RUNS_M}, 4, 'x')`),
  breaks(32, `update output_chunks set bytes = 'oops' where machine_id = ${DONE_M}`),
  ended(33, { expected: () => "other" }),
  ended(33, {}, `update output_chunks set start = 1 where machine_id = ${DONE_M}`),
  ended(34, {}, machine(113, "wanted", { job_id: "null" })),
  ended(35, { texts: [{ name: "the history", text: "it says canary-1" }] }),
  ended(35, {}, `update workspaces set name = 'canary-1'`),
  ended(35, {}, `update machines set sealed = 'canary-1'`),
  ended(
    43,
    { expected: () => undefined },
    job(20, "failed", { ended_at: at(-29) }),
    machine(120, "failed", { stopped_at: at(-29), failure: `'refused'` })
  ),
  ended(44, {}, `update sim_files set bytes = ''`),
  ended(44, {}, `update sim_files set bytes = 'job-9\\012job-10\\012'`),
  ended(45, { unanswered: ["job-1: connection lost"] }),
  breaks(46, `insert into sim_volumes (volume_id, version) values ('${id(300)}', 'x')`),
  breaks(46, `update sim_files set volume_id = '${id(300)}'`),
  breaks(46, `insert into volume_deletions (id, deleted_at, wake_at) values (${q(300)}, ${at(-4)}, ${at(1)})`),
  ended(48, {}, `delete from outbox_events where id = (select max(id) from outbox_events)`),
  ended(48, {}, `update outbox_events set type = 'job.queued' where type = 'job.succeeded'`)
]
