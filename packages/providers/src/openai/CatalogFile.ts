/**
 * The operator's catalog (`--models FILE`): which models there are, what they cost, and which OpenAI-compatible servers
 * answer for them. Keys are named by environment variable, never written down in it.
 */
import { Schema } from "effect"

/** A server that answers for a model. */
export const UpstreamEntry = Schema.Struct({
  base_url: Schema.String.annotate({ description: "Up to and with `/v1`: `http://127.0.0.1:8000/v1`" }),
  api_key_env: Schema.optionalKey(Schema.String.annotate({ description: "The environment variable that has its key" })),
  model: Schema.optionalKey(
    Schema.String.annotate({ description: "What this server calls the model; left out: its id" })
  ),
  weight: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 }))),
  timeout_seconds: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_200 })))
})
export type UpstreamEntry = typeof UpstreamEntry.Type
