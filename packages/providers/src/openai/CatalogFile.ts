/**
 * The operator's catalog (`--models FILE`): which models there are, what they cost, and which OpenAI-compatible servers
 * answer for them. Keys are named by environment variable, never written down in it. `docs/models.schema.json` is this
 * schema; what it can't say (names that come twice, variables that are not set) `Catalog.ts` checks.
 */
import { Schema } from "effect"

const opt = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(schema.annotate({ description }))

const whole = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }, { expected: `an integer from ${minimum} to ${maximum}` }))

const list = <S extends Schema.Constraint>(item: S, most: number) =>
  Schema.Array(item).check(Schema.isBetweenLength(1, most, { expected: `a list of 1 to ${most}` }))

const text = (pattern: RegExp, expected: string) =>
  Schema.String.check(Schema.isPattern(pattern, { expected, toJsonSchema: () => ({ pattern: pattern.source }) }))

/** What of a body can be left out for a server that refuses it. */
export const OMITTABLE = [
  "temperature",
  "top_p",
  "stop",
  "seed",
  "frequency_penalty",
  "presence_penalty",
  "parallel_tool_calls",
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

const MAX_PRICE = 1_000_000
/** Nano-USD are exact: nine decimals. */
const usd = (description: string) =>
  Schema.Finite.check(
    Schema.makeFilter((n: number) => n >= 0 && n <= MAX_PRICE && Number(n.toFixed(9)) === n, {
      expected: `USD from 0 to ${MAX_PRICE} with at most 9 decimals`,
      toJsonSchema: () => ({ minimum: 0, maximum: MAX_PRICE })
    })
  ).annotate({ description })

const common = {
  id: text(/^[\w./:@+-]{1,256}$/, "1 to 256 letters, digits and _ . / : @ + -").annotate({
    description: "The name that callers use; each once in the file"
  }),
  owned_by: opt(text(/^[ -~]{1,64}$/, "1 to 64 characters"), "Shown in GET /models; `operator` where left out"),
  created: opt(whole(0, 4_102_444_800), "Unix seconds, shown in GET /models; 0 where left out"),
  upstreams: list(UpstreamEntry, 64).annotate({ description: "The servers that answer for it, in no order" })
}

const size = text(/^[1-9]\d{1,4}x[1-9]\d{1,4}$/, "a size such as 1024x1024")

export const ChatEntry = Schema.Struct({
  kind: Schema.Literal("chat"),
  ...common,
  context_length: whole(1, 100_000_000),
  max_output_tokens: whole(1, 100_000_000),
  vision: opt(Schema.Boolean, "Whether it takes images; false where left out"),
  price_usd: Schema.Struct({
    million_prompt_tokens: usd("One million tokens of the prompt"),
    million_completion_tokens: usd("One million tokens of the answer")
  })
})

export const EmbeddingsEntry = Schema.Struct({
  kind: Schema.Literal("embeddings"),
  ...common,
  dimensions: whole(1, 65_536),
  context_length: whole(1, 10_000_000),
  price_usd: Schema.Struct({ million_tokens: usd("One million tokens") })
})

export const ImagesEntry = Schema.Struct({
  kind: Schema.Literal("images"),
  ...common,
  sizes: list(size, 32),
  price_usd: Schema.Struct({ image: usd("One image") })
})

export const SpeechEntry = Schema.Struct({
  kind: Schema.Literal("speech"),
  ...common,
  voices: list(text(/^[ -~]{1,64}$/, "the name of a voice"), 256),
  max_input_characters: whole(1, 100_000),
  price_usd: Schema.Struct({ million_characters: usd("One million characters that are spoken") })
})

export const TranscriptionEntry = Schema.Struct({
  kind: Schema.Literal("transcription"),
  ...common,
  price_usd: Schema.Struct({ minute: usd("One minute of sound") })
})

export const VideoEntry = Schema.Struct({
  kind: Schema.Literal("video"),
  ...common,
  sizes: list(size, 32),
  seconds: list(whole(1, 600), 32),
  price_usd: Schema.Struct({ second: usd("One second of film") })
})

export const ModelEntry = Schema.Union([
  ChatEntry,
  EmbeddingsEntry,
  ImagesEntry,
  SpeechEntry,
  TranscriptionEntry,
  VideoEntry
])
export type ModelEntry = typeof ModelEntry.Type

export const CatalogFile = Schema.Struct({
  $schema: Schema.optionalKey(Schema.String),
  models: list(ModelEntry, 1_000)
})
export type CatalogFile = typeof CatalogFile.Type
