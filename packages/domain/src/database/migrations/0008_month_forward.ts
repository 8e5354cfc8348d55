/**
 * The month of an environment never goes back. The clocks of replicas differ: at the end of a month a replica whose
 * clock is behind uses the month that another replica has begun. Otherwise it would see nothing spent in the old month
 * and admit requests beyond the budget.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  // Spent in the current month, for a replica whose clock says month $2 (its first day). Every budget rule uses it.
  `create or replace function spent_in(e environments, m date) returns int8 language sql immutable as
    $$ select case when e.month < m then 0 else e.month_spent end $$`,
  `create or replace function budget_reached(e environments, m date) returns boolean language sql immutable as
    $$ select e.monthly_budget is not null
       and (coalesce(e.budget_reached_on >= greatest(e.month, m), false) or spent_in(e, m) >= e.monthly_budget) $$`,
  `create or replace function budget_room(e environments, m date) returns int8 language sql immutable as
    $$ select e.monthly_budget - spent_in(e, m) - e.reserved $$`,
  // The part of a machine's cost, at price $2 an hour since $3, that belongs to the time from month $4 on, rounded as
  // in Money.ts.
  `create or replace function cost_in(cost int8, price int8, since timestamptz, m date) returns int8 language sql immutable as
    $$ select greatest(0, cost - div(price::numeric
       * greatest(0, floor(extract(epoch from (m::timestamp at time zone 'UTC') - since) * 1000)::int8), 3600000)::int8) $$`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
