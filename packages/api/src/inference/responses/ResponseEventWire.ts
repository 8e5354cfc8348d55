/**
 * Events of a streamed response: their schema for the OpenAPI document and clients, and the text of the most frequent
 * ones. All other events are `responseEvent` with the fields of the schema.
 */
import * as Schema from "effect/Schema"
import { alwaysNull } from "../../infra/WireFields.ts"
import { OutputItemWire, OutputTextWire, RefusalWire, ResponseWire } from "./ResponseWire.ts"

const numbered = { sequence_number: Schema.Int }
const ofItem = { ...numbered, item_id: Schema.String, output_index: Schema.Int }
const ofPart = { ...ofItem, content_index: Schema.Int }
const problem = { code: Schema.String, message: Schema.String, param: alwaysNull }
const Nothing = Schema.Array(Schema.Never)

export const ResponseEventWire = Schema.Union([
  Schema.Struct({
    type: Schema.Literals([
      "response.created",
      "response.in_progress",
      "response.completed",
      "response.incomplete",
      "response.failed"
    ]),
    ...numbered,
    response: ResponseWire
  }),
  Schema.Struct({
    type: Schema.Literals(["response.output_item.added", "response.output_item.done"]),
    ...numbered,
    output_index: Schema.Int,
    item: OutputItemWire
  }),
  Schema.Struct({
    type: Schema.Literals(["response.content_part.added", "response.content_part.done"]),
    ...ofPart,
    part: Schema.Union([OutputTextWire, RefusalWire])
  }),
  Schema.Struct({
    type: Schema.Literal("response.output_text.delta"),
    ...ofPart,
    logprobs: Nothing,
    delta: Schema.String
  }),
  Schema.Struct({
    type: Schema.Literal("response.output_text.done"),
    ...ofPart,
    logprobs: Nothing,
    text: Schema.String
  }),
  Schema.Struct({ type: Schema.Literal("response.refusal.delta"), ...ofPart, delta: Schema.String }),
  Schema.Struct({ type: Schema.Literal("response.refusal.done"), ...ofPart, refusal: Schema.String }),
  Schema.Struct({
    type: Schema.Literal("response.function_call_arguments.delta"),
    ...ofItem,
    delta: Schema.String
  }),
  Schema.Struct({
    type: Schema.Literal("response.function_call_arguments.done"),
    ...ofItem,
    name: Schema.String,
    arguments: Schema.String
  }),
  // OpenAI's documented fields, and the `error` object that its clients read in practice.
  Schema.Struct({
    type: Schema.Literal("error"),
    ...numbered,
    ...problem,
    error: Schema.Struct({ type: Schema.String, ...problem })
  })
]).annotate({ identifier: "ResponseEvent" })

/** Returns the fields of an `error` event as JSON text. */
export const errorFields = (type: string, code: string, message: string): string => {
  const fields = `"code":${JSON.stringify(code)},"message":${JSON.stringify(message)},"param":null`
  return `${fields},"error":{"type":"${type}",${fields}}`
}

export type ResponseEventType = (typeof ResponseEventWire.Type)["type"]

/** Returns one event. `fields`: JSON text of its fields besides type and number. */
export const responseEvent = (type: ResponseEventType, sequence: number, fields: string): string =>
  `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence},${fields}}\n\n`

/** The fields that name the item of an event. */
export const itemFields = (id: string, index: number): string => `"item_id":"${id}","output_index":${index}`

/** The fields that name the single part of a message. */
export const partFields = (id: string, index: number): string => `${itemFields(id, index)},"content_index":0`
