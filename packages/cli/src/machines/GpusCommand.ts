/** Defines `sluice gpus`: lists the GPU types with their prices and free machines. */
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import { connection } from "../connection/Connection.ts"
import { infra } from "../connection/Infra.ts"
import { usd } from "../terminal/Amounts.ts"
import { Output } from "../terminal/Output.ts"
import { table } from "../terminal/Table.ts"

export const gpusCommand = Command.make(
  "gpus",
  {},
  Effect.fnUntraced(function* () {
    const out = yield* Output
    const { data } = yield* infra(yield* connection, (client) => client.instances.types({ query: {} }))
    yield* out.answer(data, (types) =>
      table(
        ["GPU", "NAME", "MEMORY", "PER HOUR", "MOST", "FREE NOW", "REGIONS"],
        types.map((type) => [
          type.gpu_type,
          type.name,
          `${type.memory_gb} GB`,
          usd(type.price_per_gpu_hour),
          String(type.max_gpu_count),
          String(type.available),
          type.regions.join(", ")
        ]),
        ["MEMORY", "PER HOUR", "MOST", "FREE NOW"]
      )
    )
  })
).pipe(Command.withDescription("List GPU types with prices"))
