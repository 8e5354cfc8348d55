/**
 * What a look at the rows can find broken, one check an entry: over which rows, the condition that must never hold, and
 * what to say of a row for which it does.
 * Rows and parameters are those that `InvariantStore` joins: b book, t txn, a account, h hold, j job, m machine, s machine
 * of the world, v volume or video, u usage, e environment, c capacity.
 */
import { START_LIMIT_MS } from "@sluice/domain/jobs/JobLifecycle"
import type { StepCheck } from "./InvariantStore.ts"
import { costBetween, ENDED, GONE, LATE, NOW, SWEPT } from "./InvariantStore.ts"

export const check = (over: StepCheck["over"], broken: string, found: string): StepCheck => ({ over, broken, found })

/** `paysForMs` of Money.ts, from the moment at which the machine runs. */
const paidUntil = (amount: string) =>
  `case when j.price > 0 then m.running_at + trunc((${amount})::numeric * 3600000 / j.price) * interval '1 millisecond' end`
const minutes = (field: string) => `(j.spec->>'${field}')::int4 * interval '1 minute'`

/** When the job was to be asked to stop at the latest, as `JobLifecycle` reckons it. */
const DEADLINE = `least(j.cancel_requested_at, j.stop_at,
  case when j.started_at is not null then j.started_at + ${minutes("maxRuntimeMinutes")}
    else j.created_at + ${minutes("capacityWaitMinutes")} + case when j.status = 'queued' then 0 else ${START_LIMIT_MS} end * interval '1 millisecond' end,
  ${paidUntil("(j.spec->>'maxCostNanoUsd')::int8")}, ${paidUntil("h.amount")})`

/** As `costOf` of the domain's Money.ts; the end of a run holds every bill against that function itself. */
const BILL = `case when m.running_at is null then 0 else ${costBetween("j.price", "m.running_at", "m.stopped_at")} end`

export const steps = {
  transactionsSumToZero: [check("book", `b.total <> 0`, `'transaction ' || b.txn_id || ' sums to ' || b.total`)],
  balanceIsSum: [
    check(
      "account",
      `a.balance <> coalesce(sums.total, 0)`,
      `'account ' || a.id || ' has ' || a.balance || ', its entries say ' || coalesce(sums.total, 0)`
    )
  ],
  heldIsSum: [
    check(
      "account",
      `a.held <> coalesce(opened.total, 0)`,
      `'account ' || a.id || ' holds ' || a.held || ', its open holds say ' || coalesce(opened.total, 0)`
    )
  ],
  holdIsAlive: [
    check(
      "hold",
      `h.expires_at is null and (j.id is null or j.status in ${ENDED}) and (v.id is null or v.ended_at is not null)`,
      `'hold ' || h.id || ' is open and its job or video is ' || coalesce(j.status, v.status, 'unknown')`
    ),
    check(
      "hold",
      `h.expires_at < ${SWEPT}`,
      `'hold ' || h.id || ' of a request expired at ' || h.expires_at || ' and is open'`
    ),
    check(
      "job",
      `j.status not in ${ENDED} and h.state is distinct from 'open'`,
      `'job ' || j.id || ' is ' || j.status || ' and nothing is held for it'`
    ),
    check(
      "video",
      `v.ended_at is null and (h.state is distinct from 'open' or h.amount <> v.price)`,
      `'video ' || v.id || ' is ' || v.status || ' and its price is not held'`
    )
  ],
  endIsDated: [
    check(
      "job",
      `(j.ended_at is not null) <> (j.status in ${ENDED})`,
      `'job ' || j.id || ' is ' || j.status || ' and ended at ' || coalesce(j.ended_at::text, 'no time')`
    )
  ],
  exitCodeIsItsOwn: [
    check(
      "job",
      `j.exit_code is not null and (m.exit_why is distinct from 'exit' or m.exit_code is distinct from j.exit_code or j.status not in ('succeeded', 'failed'))`,
      `'job ' || j.id || ' is ' || j.status || ' with code ' || j.exit_code || ', its machine says ' || coalesce(m.exit_why, 'nothing')`
    ),
    check(
      "job",
      `(j.status = 'succeeded') <> (coalesce(j.exit_code, -1) = 0)`,
      `'job ' || j.id || ' is ' || j.status || ' with code ' || coalesce(j.exit_code::text, 'none')`
    )
  ],
  terminalMeansGone: [
    check(
      "job",
      `j.status in ${ENDED} and m.status not in ${GONE}`,
      `'job ' || j.id || ' is ' || j.status || ' and its machine is ' || m.status`
    )
  ],
  oneMachine: [
    check(
      "job",
      `m.id is null or m.job_id is null`,
      `'job ' || j.id || ' names machine ' || j.machine_id || ', which is not its own'`
    ),
    check(
      "machine",
      `m.job_id is not null and j.machine_id is distinct from m.id`,
      `'machine ' || m.id || ' is a second one of job ' || m.job_id`
    )
  ],
  oneJob: [
    check("job", `m.job_id <> j.id`, `'machine ' || m.id || ' is that of jobs ' || m.job_id || ' and ' || j.id`)
  ],
  stateFitsFacts: [
    check(
      "machine",
      `(m.stopped_at is not null) <> (m.status in ${GONE})`,
      `'machine ' || m.id || ' is ' || m.status || ' and stopped at ' || coalesce(m.stopped_at::text, 'no time')`
    ),
    check(
      "machine",
      `m.status in ('running', 'stopping') and m.running_at is null or m.status = 'wanted' and m.running_at is not null`,
      `'machine ' || m.id || ' is ' || m.status || ' and runs since ' || coalesce(m.running_at::text, 'never')`
    ),
    check(
      "machine",
      `m.stopped_at < m.running_at or m.command_started_at < m.running_at or m.command_exited_at < m.command_started_at`,
      `'the times of machine ' || m.id || ' are out of order'`
    )
  ],
  intentIsAnswered: [
    check(
      "machine",
      `m.requested_at is not null and m.status in ${GONE}`,
      `'machine ' || m.id || ' is ' || m.status || ' and its launch has no answer'`
    )
  ],
  intentComesFirst: [
    check(
      "world",
      `m.status = 'wanted' and m.requested_at is null and s.stop_at is null`,
      `'machine ' || s.key || ' was launched and no launch is recorded'`
    )
  ],
  knownToARow: [
    check(
      "world",
      `m.id is null and s.launched_at < ${SWEPT} and (s.stopped_at is null or s.stopped_at > ${NOW})`,
      `'machine ' || s.key || ' runs since ' || s.launched_at || ' and no row knows it'`
    )
  ],
  goneIsConfirmed: [
    check(
      "world",
      `m.status in ${GONE} and (s.stopped_at is null or s.stopped_at > ${NOW})`,
      `'machine ' || s.key || ' is ' || m.status || ' and runs'`
    )
  ],
  billedToTheStop: [
    check(
      "job",
      `j.status in ${ENDED} and coalesce(b.revenue, 0) <> ${BILL}`,
      `'job ' || j.id || ' was billed ' || coalesce(b.revenue, 0) || ' and its machine cost ' || ${BILL}`
    ),
    check(
      "job",
      `j.status in ${ENDED} and (coalesce(b.charged, 0) <> coalesce(j.cost, 0) or (j.cost is null) <> (m.running_at is null))`,
      `'job ' || j.id || ' says it cost ' || coalesce(j.cost::text, 'nothing') || ' and was charged ' || coalesce(b.charged, 0)`
    )
  ],
  billedOnce: [
    check(
      "book",
      `t.kind = 'machine' and t.resource_id is distinct from b.txn_id::text`,
      `'transaction ' || b.txn_id || ' bills job ' || coalesce(t.resource_id, 'none') || ' once more'`
    ),
    check(
      "job",
      `j.status not in ${ENDED} and b.txn_id is not null`,
      `'job ' || j.id || ' is ' || j.status || ' and billed'`
    )
  ],
  usageIsCharged: [
    check(
      "usage",
      `u.cost <> coalesce(b.charged, 0)`,
      `'request ' || u.id || ' says it cost ' || u.cost || ' and was charged ' || coalesce(b.charged, 0)`
    ),
    check(
      "book",
      `t.kind = 'inference' and u.id is null`,
      `'request ' || b.txn_id || ' was charged and no usage is recorded'`
    )
  ],
  monthIsSum: [
    check(
      "environment",
      `e.month_spent <> coalesce(months.spent, 0)`,
      `'environment ' || e.id || ' spent ' || e.month_spent || ' in the month, what was settled says ' || coalesce(months.spent, 0)`
    ),
    check(
      "environment",
      `e.reserved <> coalesce(aside.total, 0)`,
      `'environment ' || e.id || ' reserved ' || e.reserved`
    )
  ],
  capacityAddsUp: [
    check(
      "capacity",
      `c.used <> coalesce(taken.n, 0) or c.used > c.total or c.used < 0`,
      `c.used || ' of ' || c.total || ' ' || c.gpu_type || ' in ' || c.region || ' are used, machines have ' || coalesce(taken.n, 0)`
    )
  ],
  outputIsWhole: [
    check(
      "output",
      `x.stored is distinct from m.output_bytes`,
      `'machine ' || m.id || ' has ' || m.output_bytes || ' bytes of output and stored up to ' || x.stored`
    )
  ],
  stopsInTime: [
    check(
      "job",
      `${DEADLINE} < coalesce(j.ended_at, ${NOW}) - ${LATE}`,
      `'job ' || j.id || ' was to stop at ' || ${DEADLINE} || ' and ' || coalesce('ended at ' || j.ended_at, 'is ' || j.status)`
    ),
    check(
      "job",
      `burnt.reached and j.status not in ${ENDED} and j.stop_reason is null and m.stop_requested_at is null and j.created_at < ${NOW} - ${LATE}`,
      `'job ' || j.id || ' goes on and the budget of its environment is spent'`
    )
  ],
  dueIsDone: [
    check(
      "job",
      `j.status not in ${ENDED} and greatest(j.wake_at, j.lease_until) < ${NOW} - ${LATE}`,
      `'job ' || j.id || ' is due since ' || j.wake_at`
    ),
    check(
      "machine",
      `m.status not in ${GONE} and greatest(m.wake_at, m.lease_until) < ${NOW} - ${LATE}`,
      `'machine ' || m.id || ' is due since ' || m.wake_at`
    ),
    check(
      "video",
      `(v.ended_at is null or v.deleted_at is not null) and greatest(v.wake_at, v.lease_until) < ${NOW} - ${LATE}`,
      `'video ' || v.id || ' is due since ' || v.wake_at`
    )
  ]
} satisfies Record<string, ReadonlyArray<StepCheck>>
