/**
 * The schema of the body of POST /chat/completions (interface: POST /chat/completions; decisions: Inference surface).
 * Unknown fields are ignored. `null` for an optional field counts as absent, because common clients send it.
 */
import { Schema } from "effect"

const MAX_CHOICES = 8
const MAX_STOPS = 4
export const MAX_TOOLS = 256

/** Integers of any size: a value that is too large is clamped where it is used. */
const WholeNumber = Schema.Finite.check(
  Schema.makeFilter((n: number) => Number.isInteger(n), { expected: "an integer" })
)
export const between = (minimum: number, maximum: number) =>
  Schema.Finite.check(Schema.isBetween({ minimum, maximum }, { expected: `a number from ${minimum} to ${maximum}` }))
export const atLeastOne = WholeNumber.check(Schema.isGreaterThanOrEqualTo(1, { expected: "an integer of at least 1" }))
export const opt = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
export const AnyObject = Schema.Record(Schema.String, Schema.Unknown)

export const ImageUrl = Schema.String.annotate({
  description: "A data: URL; an http(s) link where the operator allows it"
})

const TextPart = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })
const RefusalPart = Schema.Struct({ type: Schema.Literal("refusal"), refusal: Schema.String })
const ImagePart = Schema.Struct({
  type: Schema.Literal("image_url"),
  image_url: Schema.Struct({ url: ImageUrl, detail: opt(Schema.Literals(["auto", "low", "high"])) })
})

const ToolCall = Schema.Struct({
  id: Schema.String,
  type: opt(Schema.String),
  function: opt(Schema.Struct({ name: Schema.String, arguments: Schema.String })),
  extra_content: Schema.optionalKey(
    Schema.Unknown.annotate({
      description:
        "As it came with the call, for models that want it back (Gemini's thought signatures): an object of at most " +
        "16,384 bytes, else it is left out. It counts for no tokens."
    })
  )
})

export const MessageBody = Schema.Struct({
  role: Schema.Literals(["system", "developer", "user", "assistant", "tool"]),
  content: opt(Schema.Union([Schema.String, Schema.Array(Schema.Union([TextPart, ImagePart, RefusalPart]))])),
  /** The text of an assistant message that has no content. */
  refusal: opt(Schema.String),
  name: opt(Schema.String),
  tool_calls: opt(Schema.Array(ToolCall)),
  tool_call_id: opt(Schema.String.annotate({ description: "Needed where the role is tool" }))
})

export const ToolName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/, { expected: "a name of 1 to 64 letters, digits, _ and -" })
)

/** The name of an answer's schema. */
export const SchemaName = Schema.String.check(Schema.isMaxLength(64, { expected: "a name of at most 64 characters" }))

const Tool = Schema.Struct({
  type: Schema.Literal("function"),
  function: Schema.Struct({
    name: ToolName,
    description: opt(Schema.String),
    parameters: opt(AnyObject),
    strict: opt(Schema.Boolean)
  })
})

const NamedTool = Schema.Struct({
  type: Schema.Literal("function"),
  function: Schema.Struct({ name: Schema.String })
})

/** A subset of the tools, and whether the model must call one of them. */
const AllowedTools = Schema.Struct({
  type: Schema.Literal("allowed_tools"),
  allowed_tools: Schema.Struct({ mode: Schema.Literals(["auto", "required"]), tools: Schema.Array(NamedTool) })
})

export const ModelId = Schema.String.check(Schema.isBetweenLength(1, 256, { expected: "the id of a model" }))

export const ChatBody = Schema.Struct({
  model: ModelId,
  messages: Schema.Array(MessageBody).check(Schema.isMinLength(1, { expected: "at least one message" })),
  max_tokens: opt(atLeastOne),
  max_completion_tokens: opt(atLeastOne),
  temperature: opt(between(0, 2)),
  top_p: opt(between(0, 1)),
  stop: opt(
    Schema.Union([
      Schema.String,
      Schema.Array(Schema.String).check(
        Schema.isMaxLength(MAX_STOPS, { expected: `at most ${MAX_STOPS} stop sequences` })
      )
    ])
  ),
  frequency_penalty: opt(between(-2, 2)),
  presence_penalty: opt(between(-2, 2)),
  stream: opt(Schema.Boolean),
  stream_options: opt(Schema.Struct({ include_usage: opt(Schema.Boolean) })),
  n: opt(
    WholeNumber.check(
      Schema.isBetween({ minimum: 1, maximum: MAX_CHOICES }, { expected: `an integer from 1 to ${MAX_CHOICES}` })
    )
  ),
  seed: opt(WholeNumber),
  user: opt(Schema.String),
  tools: opt(Schema.Array(Tool).check(Schema.isMaxLength(MAX_TOOLS, { expected: `at most ${MAX_TOOLS} tools` }))),
  tool_choice: opt(Schema.Union([Schema.Literals(["none", "auto", "required"]), NamedTool, AllowedTools])),
  parallel_tool_calls: opt(Schema.Boolean),
  response_format: opt(
    Schema.Struct({
      type: Schema.Literals(["text", "json_object", "json_schema"]),
      /**
       * A schema beside json_object: llama.cpp calls it `schema`, Hugging Face `value`. `strict`: the answer must
       * satisfy it.
       */
      schema: opt(AnyObject),
      value: opt(AnyObject),
      strict: opt(Schema.Boolean),
      json_schema: opt(
        Schema.Struct({
          name: opt(SchemaName),
          description: opt(Schema.String),
          schema: opt(AnyObject),
          strict: opt(Schema.Boolean)
        })
      )
    })
  ),
  logprobs: opt(Schema.Boolean),
  top_logprobs: opt(
    WholeNumber.check(Schema.isBetween({ minimum: 0, maximum: 20 }, { expected: "an integer from 0 to 20" }))
  ),
  reasoning_effort: opt(Schema.String),
  metadata: opt(AnyObject),
  store: opt(Schema.Boolean),
  /** No model here supports these two. They are declared so that they are refused and not ignored. */
  modalities: opt(Schema.Array(Schema.String)),
  functions: opt(Schema.Array(Schema.Unknown))
})

/**
 * Returns the body with the `type` of the tool choice, which huggingface_hub omits. The schema needs it to find the
 * alternative that a mistake belongs to.
 */
export const withToolType = (body: unknown): unknown => {
  if (!isObject(body) || !isObject(body["tool_choice"])) return body
  const { function: tool, type } = body["tool_choice"]
  if (tool === undefined || (type !== undefined && type !== null)) return body
  return { ...body, tool_choice: { type: "function", function: tool } }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

export type ChatBody = typeof ChatBody.Type
export type MessageBody = typeof MessageBody.Type
