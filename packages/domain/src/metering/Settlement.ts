/** The input and output of Metering: a charge, the reservation for it, and the settlement of the reservation. */
import type { Principal } from "../access/Principal.ts"
import type { NanoUsd } from "../billing/Money.ts"
import type { CreditLease } from "./CreditBlock.ts"

/** The identity of one request's money: `id` is the id of its hold, its usage row and its transaction. */
export interface Charge {
  readonly id: string
  readonly principal: Principal
}

/**
 * Money reserved for a request, to be settled once. `lease` is part of a credit block; undefined means that the request
 * has its own hold.
 */
export interface Reservation extends Charge {
  readonly lease?: CreditLease | undefined
}

/**
 * The result of a request. `tokens` null: no answer was delivered, so the reservation is released and no usage is
 * recorded.
 */
export interface Settlement extends Reservation {
  readonly model: string
  /** The description on the bill; the default is that of a chat. */
  readonly description?: string
  /** The request id that the caller sees. */
  readonly requestId: string
  readonly tokens: { readonly prompt: number; readonly completion: number } | null
  readonly cost: NanoUsd
}
