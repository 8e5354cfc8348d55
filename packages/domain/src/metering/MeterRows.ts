/** Builds the rows of the metering queue: reservations, settlements, and the holds of credit blocks. */
import type { Principal } from "../access/Principal.ts"
import { BudgetReached, CreditInsufficient } from "../billing/BillingErrors.ts"
import type { NanoUsd } from "../billing/Money.ts"
import type { EnvironmentCredit } from "./CreditBlock.ts"
import type { Settlement } from "./Settlement.ts"
import type { MeterOutcome, MeterRow } from "./MeteringStore.ts"

const NOTHING = {
  block: undefined,
  keyId: null,
  model: "",
  description: "",
  requestId: "",
  tokensIn: null,
  tokensOut: null
}

export const reserveRow = (id: string, purse: EnvironmentCredit, amount: NanoUsd): MeterRow => ({
  ...NOTHING,
  settle: false,
  id,
  accountId: purse.accountId,
  environmentId: purse.environmentId,
  amount
})

/** Gives back all that is left of a hold. */
export const releaseRow = (id: string, purse: EnvironmentCredit): MeterRow => ({
  ...reserveRow(id, purse, 0n),
  settle: true
})

export const settleRow = (settlement: Settlement): MeterRow => {
  const { cost, description, id, model, principal, requestId, lease, tokens } = settlement
  return {
    settle: true,
    id,
    accountId: principal.workspaceId,
    environmentId: principal.environmentId,
    keyId: principal.keyId,
    amount: cost,
    block: lease === undefined ? undefined : { id: lease.block.id, reserved: lease.amount },
    model,
    description: description ?? `Chat with ${model}`,
    requestId,
    tokensIn: tokens?.prompt ?? null,
    tokensOut: tokens?.completion ?? null
  }
}

/** Why a reservation was refused, to its caller. */
export const refusalOf = ({ available, refused }: MeterOutcome, { environmentName }: Principal, required: NanoUsd) =>
  refused === "budget_reached"
    ? new BudgetReached({ environmentName })
    : new CreditInsufficient({ required, available })
