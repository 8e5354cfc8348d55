/** Work of a tenant on the metering store. */
import type { Principal } from "@sluice/domain/access/Principal"
import type { NanoUsd } from "@sluice/domain/billing/Money"
import type { MeterRow } from "@sluice/domain/metering/MeteringStore"

/** A reservation, or the settlement of one. */
export const meterRow = (tenant: Principal, id: string, settle: boolean, amount: NanoUsd): MeterRow => ({
  settle,
  id,
  accountId: tenant.workspaceId,
  environmentId: tenant.environmentId,
  keyId: tenant.keyId,
  amount,
  block: undefined,
  model: "m",
  description: "",
  requestId: id,
  tokensIn: settle ? 1 : null,
  tokensOut: settle ? 1 : null
})
