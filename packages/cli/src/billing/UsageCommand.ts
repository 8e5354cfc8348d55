/**
 * Defines `sluice usage`: prints the requests to models over a range of UTC days, with tokens and cost, by day, model,
 * API key or environment.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { connection } from "../connection/Connection.ts"
import { infra } from "../connection/Infra.ts"
import { firstOf } from "../connection/Pages.ts"
import { usd } from "../terminal/Amounts.ts"
import { Output } from "../terminal/Output.ts"
import { table } from "../terminal/Table.ts"

const day = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.optional, Flag.withMetavar("DATE"), Flag.withDescription(description))

const flags = {
  by: Flag.Literals("by", ["day", "model", "key", "environment"]).pipe(
    Flag.withDefault("day" as const),
    Flag.withDescription("Group the requests by this; default day")
  ),
  from: day("from", "First UTC day; default the first of the month"),
  to: day("to", "Last UTC day; default today")
}

export const usageCommand = Command.make(
  "usage",
  flags,
  Effect.fnUntraced(function* ({ by, from, to }) {
    const out = yield* Output
    const place = yield* connection
    const days = {
      ...Option.match(from, { onNone: () => ({}), onSome: (from) => ({ from }) }),
      ...Option.match(to, { onNone: () => ({}), onSome: (to) => ({ to }) })
    }
    const { data: total } = yield* infra(place, (client) => client.billing.usage({ query: days }))
    const { items: groups } = yield* firstOf(Infinity, (page) =>
      infra(place, (client) => client.billing.usageBreakdown({ query: { ...days, by, ...page } }))
    )
    const row = (name: string, group: typeof total) => [
      name,
      String(group.total_requests),
      String(group.total_prompt_tokens),
      String(group.total_completion_tokens),
      usd(group.total_cost)
    ]
    yield* out.answer({ ...total, by, groups }, () =>
      table(
        [by.toUpperCase(), "REQUESTS", "TOKENS IN", "TOKENS OUT", "COST"],
        [...groups.map((group) => row(group.name ?? group.group, group)), row("all", total)],
        ["REQUESTS", "TOKENS IN", "TOKENS OUT", "COST"]
      )
    )
  })
).pipe(
  Command.withDescription("Show what requests to models cost"),
  Command.withExamples([
    { command: "sluice usage" },
    { command: "sluice usage --by model --from 2026-11-01 --to 2026-11-30" }
  ])
)
