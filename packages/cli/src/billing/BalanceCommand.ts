/**
 * Defines `sluice balance`: prints the available and held money, the current rate of cost, and when the balance runs
 * out.
 */
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import { connection } from "../connection/Connection.ts"
import { infra } from "../connection/Infra.ts"
import { timeOrNull, usd } from "../terminal/Amounts.ts"
import { Output } from "../terminal/Output.ts"
import { pairs } from "../terminal/Table.ts"

export const balanceCommand = Command.make(
  "balance",
  {},
  Effect.fnUntraced(function* () {
    const out = yield* Output
    const { data } = yield* infra(yield* connection, (client) => client.billing.balance({ query: {} }))
    yield* out.answer(data, (balance) =>
      pairs([
        ["available", usd(balance.available_usd)],
        ["held", usd(balance.held_usd)],
        ["balance", usd(balance.balance_usd)],
        ["running now", balance.accruing_usd_per_hour === 0 ? null : `${usd(balance.accruing_usd_per_hour)} an hour`],
        ["lasts until", timeOrNull(balance.runs_out_at)]
      ])
    )
  })
).pipe(Command.withDescription("Show the workspace's balance"))
