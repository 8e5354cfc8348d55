/**
 * The operator's catalog (`--models FILE`): which models there are, what they cost, and which OpenAI-compatible servers
 * answer for them. Keys are named by environment variable, never written down in it. `docs/models.schema.json` is this
 * schema; what it can't say (names that come twice, variables that are not set) `UpstreamCatalog.ts` checks.
 */
import { list, opt, text, whole } from "@sluice/domain/files/FileFields"
import {
  chatFields,
  embeddingsFields,
  imagesFields,
  speechFields,
  transcriptionFields,
  videoFields
} from "@sluice/domain/models/ModelEntry"
import { Schema } from "effect"

/** What of a body can be left out for a server that refuses it; `extra_content` is that of calls of tools. */
const OMITTABLE = [
  "temperature",
  "top_p",
  "stop",
  "seed",
  "frequency_penalty",
  "presence_penalty",
  "parallel_tool_calls",
  "extra_content",
  "reasoning_effort",
  "logprobs",
  "top_logprobs",
  "response_format",
  "encoding_format",
  "dimensions",
  "instructions",
  "speed",
  "timestamp_granularities[]"
] as const
export type Omittable = (typeof OMITTABLE)[number]

/** No user, query or fragment: a secret in an address would be in every log of it. */
const isAddress = (text: string): boolean => {
  if (!ADDRESS.test(text) || !URL.canParse(text)) return false
  const { hash, password, search, username } = new URL(text)
  return hash === "" && password === "" && search === "" && username === ""
}
const ADDRESS = /^https?:\/\/[^\s?#@\\]{1,2000}$/

/** A server that answers for a model. */
export const UpstreamEntry = Schema.Struct({
  base_url: Schema.String.check(
    Schema.makeFilter(isAddress, {
      expected: "an http:// or https:// address without user, query and fragment, such as http://127.0.0.1:8000/v1",
      toJsonSchema: () => ({ pattern: ADDRESS.source })
    })
  ).annotate({ description: "Where its API is, up to and with the version: `http://127.0.0.1:8000/v1`" }),
  api_key_env: opt(
    text(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "the name of an environment variable (letters, digits, _), not a key"),
    "The environment variable that has its key; left out: it gets none"
  ),
  model: opt(text(/^[!-~]{1,256}$/, "a name without spaces"), "What this server calls the model; left out: its id"),
  weight: opt(whole(1, 1_000), "Its share of the requests beside the others'; 1 where left out"),
  timeout_seconds: opt(
    whole(1, 1_200),
    "How long it may be silent before and within an answer; 300 where left out. Buffered answers come after the last word"
  ),
  max_concurrency: opt(whole(1, 10_000), "Requests at once at most, each with a connection; 256 where left out"),
  max_tokens_field: opt(
    Schema.Literals(["max_tokens", "max_completion_tokens"]),
    "What it calls the limit of an answer; `max_tokens` where left out"
  ),
  omit: opt(
    Schema.Array(Schema.Literals(OMITTABLE)),
    "Fields that this server refuses: they are left out of requests to it"
  )
}).annotate({ identifier: "Upstream" })
export type UpstreamEntry = typeof UpstreamEntry.Type

const upstreams = list(UpstreamEntry, 64).annotate({ description: "The servers that answer for it, in no order" })

export const CatalogModelEntry = Schema.Union([
  Schema.Struct({ ...chatFields, upstreams }),
  Schema.Struct({ ...embeddingsFields, upstreams }),
  Schema.Struct({ ...imagesFields, upstreams }),
  Schema.Struct({ ...speechFields, upstreams }),
  Schema.Struct({ ...transcriptionFields, upstreams }),
  Schema.Struct({ ...videoFields, upstreams })
])
export type CatalogModelEntry = typeof CatalogModelEntry.Type

export const CatalogFile = Schema.Struct({
  $schema: Schema.optionalKey(Schema.String),
  models: list(CatalogModelEntry, 1_000)
})
export type CatalogFile = typeof CatalogFile.Type
