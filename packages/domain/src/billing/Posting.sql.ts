/**
 * The end of every statement that moves money: transactions and their entries, the accounts, the months of environments.
 *
 * A statement that uses it defines these CTEs before, in the lock order of ARCHITECTURE.md:
 * - `locked_accounts`: `id, balance, held` of every account that changes, locked.
 * - `bills`: one row for each resolved hold, `ord, txn_id, account_id, charged, written_off, kind, description,
 *   resource_type, resource_id`. `charged` is what the customer pays, `written_off` what the operator bears.
 * - `account_changes`: one row for each account, `account_id, charged, held`: what leaves the balance, what is added to the held amount.
 * - `month_changes`: one row for each locked environment, `environment_id, charged, reserved, wakes`.
 *
 * It locks nothing by itself. Each of its CTEs is left out where a statement has no such change.
 */
import { REVENUE_ACCOUNT, WRITE_OFF_ACCOUNT } from "./Ledger.ts"
import { wakeNow } from "../database/ReconciledStore.ts"

/** A transaction and its entries for each bill. The entries of one sum to zero: customer, revenue, what the operator bears. */
const postedBills = (now: string) => `posted_transactions as (
  insert into txns (id, kind, description, resource_type, resource_id, created_at)
  select txn_id, kind, description, resource_type, resource_id, ${now}
  from bills
  where charged + written_off > 0
),
-- Bills of one account are posted one after the other: each states the balance that it leaves.
bills_with_balance as (
  select bills.*,
    (locked_accounts.balance - sum(charged) over (partition by account_id order by ord))::int8 as balance_after
  from bills
  join locked_accounts on locked_accounts.id = bills.account_id
),
posted_entries as (
  insert into entries (txn_id, account_id, amount, balance_after)
  select txn_id, account_id, amount, balance_after
  from (
    select ord, 1 as side, txn_id, account_id, -charged as amount, balance_after
    from bills_with_balance
    where charged > 0
    union all
    select ord, 2, txn_id, '${REVENUE_ACCOUNT}'::uuid, charged + written_off, null::int8
    from bills_with_balance
    where charged + written_off > 0
    union all
    select ord, 3, txn_id, '${WRITE_OFF_ACCOUNT}'::uuid, -written_off, null::int8
    from bills_with_balance
    where written_off > 0
  ) sides
  order by ord, side
)`

/** Both columns are set from what was locked: see Ledger.ts on the check of a row's constraints. */
export const UPDATED_ACCOUNTS = `updated_accounts as (
  update accounts
  set balance = locked_accounts.balance - account_changes.charged,
    held = locked_accounts.held + account_changes.held
  from locked_accounts
  join account_changes on account_changes.account_id = locked_accounts.id
  where accounts.id = locked_accounts.id
    and accounts.id = any(array(select account_id from account_changes))
)`

/** A month that has begun for one replica has begun for all. An environment that has a budget wakes where it must look at it again. */
const monthSpending = (now: string, month: string) => `month_spending as (
  update environments
  set month = greatest(environments.month, ${month}),
    month_spent = spent_in(environments, ${month}) + month_changes.charged,
    reserved = environments.reserved + month_changes.reserved,
    events = environments.events + case when wakes and monthly_budget is not null then 1 else 0 end,
    wake_at = case
      when wakes and monthly_budget is not null then ${wakeNow(now, "environments.")}
      else environments.wake_at
    end
  from month_changes
  where environments.id = month_changes.environment_id
    and environments.id = any(array(select environment_id from month_changes))
    and (month_changes.charged <> 0 or month_changes.reserved <> 0 or wakes)
  returning environments.id, monthly_budget is not null as is_limited
)`

/** `now`, `month`: the statement's parameters for the time and for the first day of the month, with their types. */
export const posting = (parameters: { readonly now: string; readonly month: string }): ReadonlyArray<string> => [
  postedBills(parameters.now),
  UPDATED_ACCOUNTS,
  monthSpending(parameters.now, parameters.month)
]
