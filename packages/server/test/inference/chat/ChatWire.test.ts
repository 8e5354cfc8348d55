/** Chat answers on the wire: they match the contract, and the contract produces a document. */
import { describe, expect, it } from "@effect/vitest"
import {
  callChunk,
  ChatChunkWire,
  ChatCompletionWire,
  chunkStart,
  completionText,
  refusalChunk,
  streamEnd,
  textChunk
} from "@sluice/api/inference/chat/ChatWire"
import { InferenceApi } from "@sluice/api/inference/InferenceApi"
import { ModelWire, modelToWire } from "@sluice/api/models/ModelWire"
import type { Answer } from "@sluice/domain/inference/chat/Inference"
import { defaultWorld } from "@sluice/simulator/models/ModelWorld"
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"

const answer: Answer = {
  head: { id: '"1"', created: 5, model: "m\n" },
  choices: [
    { text: 'say "hi"\u2028\n', calls: [], reason: "stop" },
    { text: "", calls: [], reason: "length" },
    { text: "", refusal: { text: "No.", textOffset: 0, calls: 0 }, calls: [], reason: "stop" }
  ],
  usage: { promptTokens: 3, completionTokens: 4, cost: 1_500n }
}
const strict = { onExcessProperty: "error" } as const

describe("the chat wire", () => {
  it("has buffered answers as in the schema", () => {
    const body = Schema.decodeUnknownSync(ChatCompletionWire, strict)(JSON.parse(completionText(answer)))
    expect(body.usage).toEqual({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, cost: 0.0000015 })
    expect(body.choices.map((choice) => choice.message.content)).toEqual(['say "hi"\u2028\n', "", null])
    expect(body.choices.map((choice) => choice.message.refusal)).toEqual([undefined, undefined, "No."])
  })

  it("has chunks as in the schema, one a line", () => {
    const start = chunkStart(answer.head)
    const stream =
      textChunk(start, 0, answer.choices[0]!.text, true) +
      textChunk(start, 1, "b", false) +
      refusalChunk(start, 2, "No", true) +
      refusalChunk(start, 2, ".", false) +
      streamEnd(start, answer, true)
    const events = stream.split("\n\n")
    expect(events.splice(-2)).toEqual(["data: [DONE]", ""])
    const chunks = events.map((event) => {
      expect(event.startsWith("data: ") && !event.includes("\n")).toBe(true)
      return Schema.decodeUnknownSync(ChatChunkWire, strict)(JSON.parse(event.slice(6)))
    })
    expect(chunks[0]!.choices[0]!.delta).toEqual({ role: "assistant", content: 'say "hi"\u2028\n' })
    expect(chunks[2]!.choices[0]!.delta).toEqual({ role: "assistant", content: null, refusal: "No" })
    expect(chunks[3]!.choices[0]!.delta).toEqual({ refusal: "." })
    expect(chunks.at(-1)).toMatchObject({ id: 'chatcmpl-"1"', choices: [], usage: { total_tokens: 7 } })
  })

  it("has a tool call's extra fields on that call, in both forms", () => {
    const extra = { google: { thought_signature: 'a"\n' } }
    const calls = [
      { id: "a", name: "f", textOffset: 0, arguments: "{}", extra },
      { id: "b", name: "f", textOffset: 0, arguments: "{}" }
    ]
    const choices = [{ text: "", calls, reason: "tool_calls" as const }]
    const whole = Schema.decodeUnknownSync(
      ChatCompletionWire,
      strict
    )(JSON.parse(completionText({ ...answer, choices })))
    const chunks = calls.map((one, call) =>
      Schema.decodeUnknownSync(
        ChatChunkWire,
        strict
      )(JSON.parse(callChunk(chunkStart(answer.head), { index: 0, call, ...one }, false).slice(6)))
    )
    for (const told of [
      whole.choices[0]!.message.tool_calls!,
      chunks.flatMap((chunk) => chunk.choices[0]!.delta.tool_calls!)
    ]) {
      expect(told.map((one) => one.extra_content)).toEqual([extra, undefined])
      expect("extra_content" in told[1]!).toBe(false)
    }
  })

  it("has the upstream's bytes of a token, else those of its text", () => {
    const half = { token: "\ufffd", logprob: -1, bytes: [240, 159] }
    const tokens = [{ ...half, top: [half, { token: "é", logprob: -2 }] }]
    const choices = [{ text: "\ufffd", calls: [], tokens, reason: "stop" as const }]
    const whole = JSON.parse(completionText({ ...answer, choices }))
    const chunk = JSON.parse(textChunk(chunkStart(answer.head), 0, "\ufffd", true, tokens).slice(6))
    for (const { choices } of [whole, chunk]) {
      const [said] = choices[0].logprobs.content
      expect([said.bytes, said.top_logprobs.map((one: typeof half) => one.bytes)]).toEqual([
        [240, 159],
        [
          [240, 159],
          [195, 169]
        ]
      ])
    }
  })

  it("has models as in the schema", () => {
    for (const model of defaultWorld(1).models) Schema.decodeSync(ModelWire, strict)(modelToWire(model))
  })

  it("produces a document with both forms of an answer and all its errors", () => {
    const document = OpenApi.fromApi(InferenceApi)
    const operation = document.paths["/v1/chat/completions"]?.post
    expect(Object.keys(operation?.responses["200"]?.content ?? {}).sort()).toEqual([
      "application/json",
      "text/event-stream"
    ])
    expect(Object.keys(operation?.responses ?? {})).toEqual(
      expect.arrayContaining(["400", "401", "402", "403", "404", "413", "429", "500", "502", "503", "504"])
    )
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(["/v1/models", "/v1/models/{id}"]))
  })
})
