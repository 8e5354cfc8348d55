/**
 * Reserves the cost of running model requests in the month's budget, as holds reserve it in the balance, so that many
 * requests at once cannot exceed the budget together. Holds of machines have no environment and are not reserved here.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const statements: ReadonlyArray<string> = [
  `alter table environments add column if not exists reserved int8 not null default 0 check (reserved >= 0)`,
  `alter table holds add column if not exists environment_id uuid`,
  `update holds h set environment_id = v.environment_id from videos v where v.id = h.id and h.state = 'open'`,
  `update environments e set reserved = x.total from (
     select environment_id, sum(amount)::int8 as total from holds where environment_id is not null and state = 'open' group by environment_id) x
   where x.environment_id = e.id`,
  // The rule as before, but never null.
  `create or replace function budget_reached(e environments, m date) returns boolean language sql immutable as
    $$ select e.monthly_budget is not null and (coalesce(e.budget_reached_on = m, false)
       or (e.month = m and e.month_spent >= e.monthly_budget) or e.monthly_budget = 0) $$`,
  // The budget of month $2 less the spending and the reservations; null without a budget.
  `create or replace function budget_room(e environments, m date) returns int8 language sql immutable as
    $$ select e.monthly_budget - case when e.month = m then e.month_spent else 0 end - e.reserved $$`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of statements) yield* sql.unsafe(statement)
})
