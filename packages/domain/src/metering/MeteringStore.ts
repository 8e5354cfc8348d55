/**
 * Reserves and settles many requests in one statement, each with its own outcome, as if they came one after the other in the
 * order of the batch.
 *
 * Locks as ARCHITECTURE.md says (Lock order); only the sweep of expired holds also locks the holds of these requests.
 * `admit` walks each environment's rows along its budget, and then each account's along its balance: a row that
 * does not fit leaves the sum unchanged. A repeated row is `done` and changes nothing.
 */
import { Context, Effect, Layer, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { monthOf } from "../billing/Month.ts"
import type { NanoUsd } from "../billing/Money.ts"
import { BatchSql } from "../database/Clients.ts"
import { rowsOf } from "../database/RowDecoder.ts"
import { METER_REQUESTS } from "./Metering.sql.ts"

export interface MeterRow {
  readonly settle: boolean
  readonly id: string
  readonly accountId: string
  readonly environmentId: string
  /** Null on reservations, and if no usage is counted. */
  readonly keyId: string | null
  /** The amount to hold, or the cost to settle. */
  readonly amount: NanoUsd
  /** True for a credit block, which may never exceed the budget. A single request may, by less than its price. */
  readonly shared?: boolean
  /** The hold that pays, and the largest part of it; undefined for the row's own hold. */
  readonly block: { readonly id: string; readonly reserved: NanoUsd } | undefined
  readonly model: string
  readonly requestId: string
  /** The description on the bill. */
  readonly description: string
  /** Null on reservations and if nothing was delivered; no usage is counted then. */
  readonly tokensIn: number | null
  readonly tokensOut: number | null
}

export interface MeterOutcome {
  readonly refused: "budget_reached" | "insufficient_credits" | null
  /** The available balance of the account before this row. */
  readonly available: NanoUsd
  /** True if the environment's budget was reached before this row. */
  readonly budgetReached: boolean
  /** The rest of the environment's budget, without spending and reservations, before this row; null without a budget. */
  readonly room: NanoUsd | null
}

export class MeteringStore extends Context.Service<
  MeteringStore,
  {
    /** One outcome per row, in order. `now`, `expiresAt`: Unix milliseconds. */
    readonly flush: (
      rows: ReadonlyArray<MeterRow>,
      now: number,
      expiresAt: number
    ) => Effect.Effect<ReadonlyArray<MeterOutcome>, SqlError.SqlError>
  }
>()("@sluice/domain/metering/MeteringStore") {
  static readonly layer = Layer.effect(
    MeteringStore,
    Effect.gen(function* () {
      const sql = yield* BatchSql

      const flush = (rows: ReadonlyArray<MeterRow>, now: number, expiresAt: number) =>
        Effect.map(
          sql.unsafe(METER_REQUESTS, [
            JSON.stringify(rows.map(wireRow)),
            new Date(now),
            monthOf(now),
            new Date(expiresAt)
          ]),
          outcomesOf
        )

      return { flush }
    })
  )
}

const OutcomeRow = Schema.Struct({
  refused: Schema.NullOr(Schema.Literals(["budget_reached", "insufficient_credits", "done"])),
  available: Schema.NullOr(Schema.BigInt),
  is_reached: Schema.Boolean,
  room: Schema.NullOr(Schema.BigInt)
})
const outcomeRows = rowsOf("MeteringStore", OutcomeRow)

const outcomesOf = (rows: ReadonlyArray<object>): ReadonlyArray<MeterOutcome> =>
  outcomeRows(rows).map(({ available, is_reached, refused, room }) => ({
    refused: refused === "done" ? null : refused,
    available: available ?? 0n,
    budgetReached: is_reached,
    room
  }))

/** The fields that this kind of row needs. Absent fields are null in the statement. */
const wireRow = (row: MeterRow, index: number) => {
  const common = {
    ord: index,
    settle: row.settle,
    id: row.id,
    account_id: row.accountId,
    environment_id: row.environmentId,
    amount: row.amount.toString(),
    shared: row.shared === true
  }
  if (!row.settle) return common
  return {
    ...common,
    block: row.block?.id,
    reserved: row.block?.reserved.toString(),
    key_id: row.keyId,
    model: row.model,
    description: row.description,
    request_id: row.requestId,
    tokens_in: row.tokensIn,
    tokens_out: row.tokensOut
  }
}
