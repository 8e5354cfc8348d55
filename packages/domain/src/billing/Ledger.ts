/**
 * The accounts of the double-entry ledger. The entries of every transaction sum to zero. The account of a workspace has
 * the workspace's id, and its balance never falls below its holds. The operator's accounts have fixed ids and no
 * balance column, because every statement would wait for that one row: their balance is the sum of their entries.
 *
 * A statement locks the accounts first, and then sets both `balance` and `held` from the locked values. PostgreSQL
 * checks a row's constraints on the row version of the statement's snapshot before it sees that there is a newer
 * version. A new value computed from the row's own columns may therefore be refused as below zero although the true
 * value is not.
 */
import type { NanoUsd } from "./Money.ts"

/** Receives the payments of customers, for machines and inference. */
export const REVENUE_ACCOUNT = "00000000-0000-7000-8000-000000000001"
/** Pays the credit of customers. */
export const FUNDING_ACCOUNT = "00000000-0000-7000-8000-000000000002"
/** Bears the operator's costs: for example between the end of a customer's money and the machine's confirmed stop. */
export const WRITE_OFF_ACCOUNT = "00000000-0000-7000-8000-000000000003"

/** Set-up time that is held in addition to a job's maximum runtime (decisions: Jobs). */
export const SETUP_ALLOWANCE_MINUTES = 15

/**
 * Splits a final cost: the customer pays up to the hold, the operator bears the rest. The two parts sum to the cost.
 */
export const split = (cost: NanoUsd, hold: NanoUsd): { readonly charged: NanoUsd; readonly writtenOff: NanoUsd } =>
  cost <= hold ? { charged: cost, writtenOff: 0n } : { charged: hold, writtenOff: cost - hold }
