/**
 * The month of an environment never goes back. Replicas' clocks differ: at a month's end one that is behind is judged by
 * the month that has begun for another, else it would see nothing spent in a month that is over, and would serve on.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  // What is spent in the month that counts, for who thinks that it is the month $2 (its first day): the one rule.
  `create or replace function spent_in(e environments, m date) returns int8 language sql immutable as
    $$ select case when e.month < m then 0 else e.month_spent end $$`,
  `create or replace function budget_reached(e environments, m date) returns boolean language sql immutable as
    $$ select e.monthly_budget is not null
       and (coalesce(e.budget_reached_on >= greatest(e.month, m), false) or spent_in(e, m) >= e.monthly_budget) $$`,
  `create or replace function budget_room(e environments, m date) returns int8 language sql immutable as
    $$ select e.monthly_budget - spent_in(e, m) - e.reserved $$`,
  // Of what a machine cost at $2 an hour since $3, what it ran up from the month $4 on; what is rounded is as in Money.ts.
  `create or replace function cost_in(cost int8, price int8, since timestamptz, m date) returns int8 language sql immutable as
    $$ select greatest(0, cost - div(price::numeric
       * greatest(0, floor(extract(epoch from (m::timestamp at time zone 'UTC') - since) * 1000)::int8), 3600000)::int8) $$`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
