/**
 * The words of the double-entry ledger. Every transaction's entries sum to zero; a workspace's account is its workspace's
 * id and never goes below what is held; the operator's own accounts have fixed ids and no cached balance (they would be the
 * one row that everybody waits for): what they hold is the sum of their entries.
 *
 * A statement locks the accounts first and then sets both `balance` and `held` from what it locked. PostgreSQL checks a
 * row's constraints on the version that the statement's snapshot saw, before it finds that there is a newer one: a sum of
 * the row's own columns is refused as below zero although what is true is not.
 */
import type { NanoUsd } from "./Money.ts"

/** What customers paid for: machines and inference. */
export const REVENUE_ACCOUNT = "00000000-0000-7000-8000-000000000001"
/** Where credit comes from. */
export const FUNDING_ACCOUNT = "00000000-0000-7000-8000-000000000002"
/** What the operator bears: costs between the moment the money ended and the machine's confirmed stop. */
export const WRITE_OFF_ACCOUNT = "00000000-0000-7000-8000-000000000003"

/** Set-up time that is held on top of a job's maximum runtime (decisions: Jobs). */
export const SETUP_ALLOWANCE_MINUTES = 15

/** How a final cost is paid: what the hold covers by the customer, the rest by the operator. No part is lost. */
export const split = (cost: NanoUsd, hold: NanoUsd): { readonly charged: NanoUsd; readonly writtenOff: NanoUsd } =>
  cost <= hold ? { charged: cost, writtenOff: 0n } : { charged: hold, writtenOff: cost - hold }
