/** What Metering takes and gives: a charge, the reservation for it, and the settlement of that reservation. */
import type { Principal } from "../access/Principal.ts"
import type { NanoUsd } from "../billing/Money.ts"
import type { CreditLease } from "./CreditBlock.ts"

/** One request's money. `id` is its hold, usage row and transaction. */
export interface Charge {
  readonly id: string
  readonly principal: Principal
}

/** What is set aside for a request, to be settled once: part of a block, or (undefined) a hold of its own. */
export interface Reservation extends Charge {
  readonly share?: CreditLease | undefined
}

/** What a request came to. `tokens` null: nothing was delivered, what was reserved is let go and nothing is counted. */
export interface Settlement extends Reservation {
  readonly model: string
  /** What the bill calls it; left out: a chat. */
  readonly description?: string
  /** The id that the caller knows the request by. */
  readonly requestId: string
  readonly tokens: { readonly prompt: number; readonly completion: number } | null
  readonly cost: NanoUsd
}
