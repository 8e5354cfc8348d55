/**
 * Looks at all rows at once: one statement for every check of `StepChecksStore`, and what the guards have found since.
 * It reads only. Sums over the books are made once and joined, so that a look costs one pass over each table.
 */
import type { PgClient } from "@effect/sql-pg"
import { FUNDING_ACCOUNT, REVENUE_ACCOUNT, WRITE_OFF_ACCOUNT } from "@sluice/domain/billing/Ledger"
import { monthStart } from "@sluice/domain/billing/Month"
import { Effect } from "effect"

export const GONE = `('stopped', 'failed')`
export const ENDED = `('succeeded', 'failed', 'cancelled', 'timed_out')`
/** Findings of one look at most. */
const MAX_FOUND = 100

export interface StepCheck {
  readonly over: keyof typeof PASSES
  /** True where the invariant is broken; null counts as false. */
  readonly broken: string
  /** A text about the row. */
  readonly found: string
}

export const NOW = `$1::timestamptz`
/** What is older should have been swept. */
export const SWEPT = `$2::timestamptz`
/** How late a stop may be. */
export const LATE = `$3::interval`
/** Since when each environment has its present budget. */
const BUDGETS = `$4::json`
const MONTH_START = `$5::timestamptz`
/** What ended before and has not changed since was looked at: the guards see to it that it stays as it is. */
const SINCE = `$6::timestamptz`
/** A video that was ordered before should have ended. */
export const FILMED = `$7::timestamptz`

/** Entries up to this one are summed already: they never change, the guards see to that. */
const BOOKED = `$8::int8`
/** The sums of those, by account and by environment and month. */
const ACCOUNTS = `$9::json`
const MONTHS = `$10::json`

/** Of a machine's run between two moments, in nano-USD. */
export const costBetween = (price: string, from: string, to: string) =>
  `div(${price}::numeric * greatest(0, floor(extract(epoch from ((${to}) - (${from}))) * 1000)), 3600000)`

/** What a transaction booked, by an index of its own: joined with its sums over all the books, a look would grow with their square. */
const bookOf = (id: string) => `lateral (select txn_id, sum(amount) as total,
    coalesce(sum(amount) filter (where account_id = '${REVENUE_ACCOUNT}'), 0) as revenue,
    coalesce(-sum(amount) filter (where account_id not in ('${REVENUE_ACCOUNT}', '${FUNDING_ACCOUNT}', '${WRITE_OFF_ACCOUNT}')), 0) as charged
    from entries where txn_id = ${id} group by txn_id) b`

/** What a look goes by, so that it need not read all that ever was. */
export const INDEXES = [
  `create index if not exists simulation_books on entries (txn_id)`,
  `create index if not exists simulation_txns on txns (created_at)`,
  `create index if not exists simulation_requests on txns (resource_id) where kind = 'inference'`,
  `create index if not exists simulation_usage on usage (at)`,
  `create index if not exists simulation_ended on jobs (ended_at)`,
  `create index if not exists simulation_stopped on machines (stopped_at)`
]

const SUMS = `with fresh as materialized (select seq, txn_id, account_id, amount from entries where seq > ${BOOKED}
  ), sums as materialized (select account_id, sum(total) as total from (
      select account_id, amount::numeric as total from fresh
      union all select account_id, total from json_to_recordset(${ACCOUNTS}) as r(account_id uuid, total numeric)) x group by account_id
  ), opened as materialized (select account_id, sum(amount) as total from holds where state = 'open' group by account_id
  ), settled as materialized (select u.environment_id, date_trunc('month', u.at at time zone 'UTC')::date as month, u.cost::numeric as amount
      from usage u where u.id = any(array(select txn_id from fresh))
        or (u.at >= ${SINCE} and not exists (select from entries where txn_id = u.id))
    union all select environment_id, month, spent from json_to_recordset(${MONTHS}) as r(environment_id uuid, month date, spent numeric)
    union all select j.environment_id, x.month, greatest(0, b.amount - ${costBetween("j.price", "m.running_at", "x.month::timestamp at time zone 'UTC'")})
      from fresh b join jobs j on j.id = b.txn_id join txns t on t.id = b.txn_id join machines m on m.id = j.machine_id
      cross join lateral (select date_trunc('month', t.created_at at time zone 'UTC')::date as month) x
      where b.account_id = '${REVENUE_ACCOUNT}'
  ), months as materialized (select environment_id, month, sum(amount) as spent from settled group by environment_id, month
  ), costs as (select j.environment_id, ${costBetween("j.price", `greatest(m.running_at, ${MONTH_START})`, `least(m.stopped_at, ${NOW} - ${LATE})`)} as amount
      from jobs j join machines m on m.id = j.machine_id where m.running_at is not null and (m.stopped_at is null or m.stopped_at >= ${MONTH_START})
    union all select environment_id, cost from usage where at >= ${MONTH_START} and at < ${NOW} - ${LATE}
  ), burnt as materialized (select e.id as environment_id, sum(costs.amount) >= e.monthly_budget
        and (${BUDGETS}->e.id::text->>'since')::timestamptz < ${NOW} - ${LATE}
        and ${BUDGETS}->e.id::text->>'amount' = e.monthly_budget::text and ${MONTH_START} < ${NOW} - ${LATE} as reached
    from environments e join costs on costs.environment_id = e.id where e.monthly_budget is not null group by e.id)`

/** Rows to look at: what is joined, and which of it. */
const PASSES = {
  book: [`txns t cross join ${bookOf("t.id")} left join usage u on u.id = t.id`, `t.created_at >= ${SINCE}`],
  account: [`accounts a left join sums on sums.account_id = a.id left join opened on opened.account_id = a.id`],
  hold: [`holds h left join jobs j on j.id = h.id left join videos v on v.id = h.id`, `h.state = 'open'`],
  job: [
    `jobs j left join machines m on m.id = j.machine_id left join holds h on h.id = j.id left join ${bookOf("j.id")} on true
      left join burnt on burnt.environment_id = j.environment_id`,
    `j.ended_at is null or j.ended_at >= ${SINCE}`
  ],
  machine: [`machines m left join jobs j on j.id = m.job_id`, `m.stopped_at is null or m.stopped_at >= ${SINCE}`],
  world: [
    `sim_machines s left join machines m on m.id = s.key::uuid`,
    `s.launched_at is not null and (s.stopped_at is null or s.stopped_at >= ${SINCE})`
  ],
  mounted: [
    `(select volume_id, count(*) as n from sim_machines where volume_id is not null and launched_at is not null
      and (stopped_at is null or stopped_at > ${NOW}) group by volume_id) x`
  ],
  video: [
    `videos v left join holds h on h.id = v.id left join usage u on u.id = v.id left join ${bookOf("v.id")} on true`,
    `v.ended_at is null or v.ended_at >= ${SINCE} or v.deleted_at is not null`
  ],
  usage: [`usage u left join ${bookOf("u.id")} on true`, `u.at >= ${SINCE}`],
  environment: [
    `environments e left join months on months.environment_id = e.id and months.month = e.month left join (select environment_id,
      sum(amount) as total from holds where state = 'open' and environment_id is not null group by environment_id) aside on aside.environment_id = e.id`
  ],
  volume: [`volumes v left join machines m on m.id = v.attached_to`, `v.attached_to is not null`],
  held: [
    `(select volume_id from sim_volumes union select volume_id from sim_files) w
      left join volumes v on v.id = w.volume_id::uuid left join volume_deletions d on d.id = w.volume_id::uuid`
  ],
  deletion: [`volume_deletions d`],
  capacity: [
    `sim_capacity c left join (select gpu_type, region, sum(gpu_count) as n from sim_machines where not freed
      group by gpu_type, region) taken on taken.gpu_type = c.gpu_type and taken.region = c.region`
  ],
  output: [
    `machines m join (select machine_id, max(start + length(bytes)) as stored from output_chunks
      where machine_id = any(array(select id from machines where status not in ${GONE})) group by machine_id) x on x.machine_id = m.id`
  ]
} as const satisfies Record<string, readonly [from: string, where?: string]>

/** What a look needs to know of the run. */
export interface Look {
  /** Unix ms of the world's clock. */
  readonly now: number
  /** How long a machine that no row knows, or a chat's expired hold, may be there, ms. */
  readonly sweepMs: number
  /** How late a stop may be, ms: it never shrinks in a run. */
  readonly stopMs: number
  /** How long a video may be without an end, ms. */
  readonly filmMs: number
  /** What ended before was looked at already, Unix ms; left out: all is looked at. */
  readonly since?: number
}

export interface Finding {
  readonly number: number
  readonly found: string
}

export interface Numbered {
  readonly number: number
  readonly step: ReadonlyArray<StepCheck>
}

/** The looks at one database, by the checks of all invariants. */
export const makeInvariantStore = (sql: PgClient.PgClient, checks: ReadonlyArray<Numbered>) => {
  const statement = statementOf(checks)
  let budgets: Readonly<Record<string, { readonly amount: string; readonly since: Date }>> = {}
  let books = NO_BOOKS

  /** When a budget was set nothing in the database says: it is when a look first saw it. */
  const remember = (rows: ReadonlyArray<Finding>, now: number) => {
    budgets = Object.fromEntries(
      rows.map(({ found }) => {
        const [id = "", amount = ""] = found.split(" ")
        const known = budgets[id]
        return [id, known?.amount === amount ? known : { amount, since: new Date(now) }] as const
      })
    )
  }

  return {
    look: ({ filmMs, now, since, sweepMs, stopMs }: Look): Effect.Effect<ReadonlyArray<Finding>> =>
      sql
        .unsafe<Finding>(statement, [
          new Date(now),
          new Date(now - sweepMs),
          `${stopMs} milliseconds`,
          JSON.stringify(budgets),
          new Date(monthStart(now)),
          new Date(since ?? 0),
          new Date(now - filmMs),
          // Who looks at all of it believes no sum from before.
          ...(since === undefined ? NO_BOOKS : books)
        ])
        .pipe(
          Effect.map((rows) => {
            remember(
              rows.filter((row) => row.number === 0),
              now
            )
            const summed = rows.filter((row) => row.number < 0).sort((a, b) => b.number - a.number)
            books = summed.map(({ found }) => found)
            return rows.filter((row) => row.number > 0)
          }),
          Effect.orDie
        )
  }
}

/** The last entry that was summed, and the sums: parameters of the next look. */
const NO_BOOKS: ReadonlyArray<string> = ["0", "[]", "[]"]

/** Findings are numbered by invariant; number 0 names the budgets that there are, those below are the sums so far. */
const statementOf = (checks: ReadonlyArray<Numbered>): string => {
  const passes = Object.entries(PASSES).flatMap(([over, [from, where]]) => {
    const here = checks.flatMap(({ number, step }) =>
      step.filter((one) => one.over === over).map((one) => ({ number, ...one }))
    )
    if (here.length === 0) return []
    const found = here.map((one) => `case when ${one.broken} then coalesce(${one.found}, 'an unnamed row') end`)
    // Rows are judged before anything is said of one: hardly any is left by then.
    return `select f.number, f.found from ${from}
      cross join lateral unnest(array[${here.map(({ number }) => number).join(", ")}], array[${found.join(", ")}]) f(number, found)
      where (${where ?? "true"}) and (${here.map(({ broken }) => `(${broken}) is true`).join(" or ")}) and f.found is not null`
  })
  return `${SUMS}
    select 0 as number, id || ' ' || monthly_budget as found from environments where monthly_budget is not null
    union all select -1, greatest(${BOOKED}, (select max(seq) from fresh))::text
    union all select -2, (select coalesce(json_agg(sums), '[]')::text from sums)
    union all select -3, (select coalesce(json_agg(months), '[]')::text from months)
    union all select number, found from simulation_violations
    union all select * from (${passes.join(" union all ")} limit ${MAX_FOUND}) x`
}
