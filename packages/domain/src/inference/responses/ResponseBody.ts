/**
 * The schema of the body of POST /responses: the part of OpenAI's Responses API that stores nothing (decisions:
 * Inference surface). Unknown fields are ignored; `null` for an optional field counts as absent.
 *
 * Items and tools are checked one by one, by their `type` (`ResponseInput.ts`, `ResponseTools.ts`), so that an error
 * describes the form that the caller meant. `ResponseBody` contains them in full, for the documents; `OpenResponseBody`
 * is decoded first.
 */
import { Schema } from "effect"
import { AnyObject, atLeastOne, between, ImageUrl, ModelId, opt, SchemaName, ToolName } from "../chat/ChatBody.ts"

const InputText = Schema.Struct({ type: Schema.Literal("input_text"), text: Schema.String })
const OutputText = Schema.Struct({ type: Schema.Literal("output_text"), text: Schema.String })
const RefusalPart = Schema.Struct({ type: Schema.Literal("refusal"), refusal: Schema.String })
const ImagePart = Schema.Struct({
  type: Schema.Literal("input_image"),
  image_url: ImageUrl,
  detail: opt(Schema.Literals(["auto", "low", "high", "original"]))
})
const Content = Schema.Union([
  Schema.String,
  Schema.Array(Schema.Union([InputText, OutputText, RefusalPart, ImagePart]))
])
export type Content = typeof Content.Type

export const MessageItem = Schema.Struct({
  type: Schema.optionalKey(Schema.Literal("message")),
  role: Schema.Literals(["user", "assistant", "system", "developer"]),
  content: Content
}).annotate({ identifier: "ResponseInputMessage" })

export const CallItem = Schema.Struct({
  type: Schema.Literal("function_call"),
  call_id: Schema.String,
  name: Schema.String,
  namespace: opt(Schema.String),
  arguments: Schema.String
}).annotate({ identifier: "ResponseInputFunctionCall" })

export const CallOutputItem = Schema.Struct({
  type: Schema.Literal("function_call_output"),
  call_id: Schema.String,
  output: Content
}).annotate({ identifier: "ResponseInputFunctionCallOutput" })

const ReasoningItem = Schema.Struct({ type: Schema.Literal("reasoning") }).annotate({
  identifier: "ResponseInputReasoning",
  description: "Accepted and ignored"
})

export const FunctionTool = Schema.Struct({
  type: Schema.Literal("function"),
  name: ToolName,
  description: opt(Schema.String),
  parameters: opt(AnyObject),
  strict: opt(Schema.Boolean)
}).annotate({ identifier: "ResponseFunctionTool" })

export const NamespaceTool = Schema.Struct({
  type: Schema.Literal("namespace"),
  name: ToolName,
  description: opt(Schema.String),
  tools: Schema.Array(AnyObject)
}).annotate({ identifier: "ResponseNamespaceTool", description: "Functions under a common name" })

const OtherTool = Schema.Struct({ type: Schema.String }).annotate({
  identifier: "ResponseOtherTool",
  description: "A tool that this service does not run; ignored"
})

/** `allowed_tools`: a subset of the tools, and whether the model must call one of them. */
export const ToolChoice = Schema.Union([
  Schema.Literals(["none", "auto", "required"]),
  Schema.Struct({ type: Schema.Literal("function"), name: Schema.String, namespace: opt(Schema.String) }),
  Schema.Struct({
    type: Schema.Literal("allowed_tools"),
    mode: Schema.Literals(["auto", "required"]),
    tools: Schema.Array(AnyObject)
  })
])
export type ToolChoice = typeof ToolChoice.Type

const common = {
  model: ModelId,
  instructions: opt(Schema.String),
  tool_choice: opt(ToolChoice),
  parallel_tool_calls: opt(Schema.Boolean),
  max_output_tokens: opt(atLeastOne),
  temperature: opt(between(0, 2)),
  top_p: opt(between(0, 1)),
  top_logprobs: opt(between(0, 20)),
  text: opt(
    Schema.Struct({
      format: opt(
        Schema.Struct({
          type: Schema.Literals(["text", "json_object", "json_schema"]),
          name: opt(SchemaName),
          description: opt(Schema.String),
          schema: opt(AnyObject),
          strict: opt(Schema.Boolean)
        })
      ),
      verbosity: opt(Schema.String)
    })
  ),
  stream: opt(Schema.Boolean),
  store: opt(Schema.Boolean),
  background: opt(Schema.Boolean),
  previous_response_id: opt(Schema.String),
  conversation: opt(Schema.Union([Schema.String, AnyObject])),
  prompt: opt(AnyObject),
  metadata: opt(AnyObject),
  user: opt(Schema.String),
  safety_identifier: opt(Schema.String),
  prompt_cache_key: opt(Schema.String),
  reasoning: opt(Schema.Struct({ effort: opt(Schema.String) })),
  include: opt(Schema.Array(Schema.String)),
  truncation: opt(Schema.Literals(["auto", "disabled"])),
  service_tier: opt(Schema.String)
}

/** The body's schema for the documents. */
export const ResponseBody = Schema.Struct({
  ...common,
  input: Schema.Union([
    Schema.String,
    Schema.Array(Schema.Union([MessageItem, CallItem, CallOutputItem, ReasoningItem]))
  ]),
  tools: opt(Schema.Array(Schema.Union([FunctionTool, NamespaceTool, OtherTool])))
})

export const OpenResponseBody = Schema.Struct({
  ...common,
  input: Schema.Union([Schema.String, Schema.Array(AnyObject)]),
  tools: opt(Schema.Array(AnyObject))
})
export type OpenResponseBody = typeof OpenResponseBody.Type
