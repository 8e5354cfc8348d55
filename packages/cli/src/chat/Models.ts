/** Lists the models of the server with their modalities and prices. */
import { ModelListWire } from "@sluice/api/models/ModelWire"
import * as Effect from "effect/Effect"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { calling } from "../connection/Answers.ts"
import type { Connection } from "../connection/Connection.ts"
import { connection } from "../connection/Connection.ts"
import { Output } from "../terminal/Output.ts"
import { usd } from "../terminal/Amounts.ts"
import { table } from "../terminal/Table.ts"

export const listModels = (connected: Connection) =>
  calling(
    connected.baseUrl,
    Effect.flatMap(connected.http.get(`${connected.baseUrl}/models`), HttpClientResponse.schemaBodyJson(ModelListWire))
  ).pipe(Effect.map(({ data }) => data))

export const models = Effect.gen(function* () {
  const out = yield* Output
  yield* out.answer(yield* listModels(yield* connection), (list) =>
    table(
      ["ID", "INPUT", "OUTPUT", "CONTEXT", "PRICE"],
      list.map((model) => [
        model.id,
        model.modalities.input.join(","),
        model.modalities.output.join(","),
        String(model.context_length ?? ""),
        priceOf(model.pricing)
      ]),
      ["CONTEXT"]
    )
  )
})

const UNITS = {
  prompt: "1M tokens in",
  completion: "1M tokens out",
  image: "image",
  characters: "1M characters",
  minute: "minute",
  second: "second"
} as const

const priceOf = (pricing: { readonly [Unit in keyof typeof UNITS]?: number }): string =>
  Object.entries(UNITS)
    .flatMap(([unit, words]) => {
      const price = pricing[unit as keyof typeof UNITS]
      return price === undefined ? [] : [`${usd(price)}/${words}`]
    })
    .join(", ")
