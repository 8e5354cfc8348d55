/** The models there are, with what a million tokens cost. */
import { ModelListWire } from "@sluice/api/inference/ModelWire"
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
      ["ID", "INPUT", "OUTPUT", "CONTEXT", "PROMPT/1M", "ANSWER/1M", "IMAGE"],
      list.map((model) => [
        model.id,
        model.modalities.input.join(","),
        model.modalities.output.join(","),
        String(model.context_length ?? ""),
        model.pricing.prompt === undefined ? "" : usd(model.pricing.prompt),
        model.pricing.completion === undefined ? "" : usd(model.pricing.completion),
        model.pricing.image === undefined ? "" : usd(model.pricing.image)
      ]),
      ["CONTEXT", "PROMPT/1M", "ANSWER/1M", "IMAGE"]
    )
  )
})
