/** Issues of request bodies in plain language, for every endpoint and any value. */
import { expect, it } from "@effect/vitest"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { ChatBody } from "@sluice/domain/inference/chat/ChatBody"
import { decodeEmbedding, EmbeddingBody } from "@sluice/domain/inference/embeddings/EmbeddingRequest"
import { decodeImage, ImageBody } from "@sluice/domain/inference/images/ImageRequest"
import type { ModelRequestInvalid } from "@sluice/domain/models/InferenceErrors"
import { ResponseBody } from "@sluice/domain/inference/responses/ResponseBody"
import { decodeResponse } from "@sluice/domain/inference/responses/ResponseRequest"
import { decodeSpeech, SpeechBody } from "@sluice/domain/inference/audio/SpeechRequest"
import { decodeTranscription } from "@sluice/domain/inference/audio/TranscriptionRequest"
import { decodeVideo, VideoBody } from "@sluice/domain/videos/VideoRequest"
import { Result } from "effect"

type Decode = (body: Readonly<Record<string, unknown>>) => Result.Result<unknown, ModelRequestInvalid>
const endpoints: ReadonlyArray<readonly [Decode, ReadonlyArray<string>, object]> = [
  [decodeChat, Object.keys(ChatBody.fields), { model: "m", messages: [{ role: "user", content: "hi" }] }],
  [decodeResponse, Object.keys(ResponseBody.fields), { model: "m", input: "hi" }],
  [decodeEmbedding, Object.keys(EmbeddingBody.fields), { model: "m", input: "hi" }],
  [decodeImage, Object.keys(ImageBody.fields), { model: "m", prompt: "a cat" }],
  [decodeSpeech, Object.keys(SpeechBody.fields), { model: "m", input: "hi" }],
  [(body) => decodeTranscription(body, undefined), ["language", "response_format", "stream", "temperature"], {}],
  [(body) => decodeVideo(body), Object.keys(VideoBody.fields), { model: "m", prompt: "a cat" }]
]

const odd = { type: "odd", role: "user", content: [{ type: "odd" }] }
const wrong = [
  5,
  1.5,
  true,
  "odd",
  [],
  [5],
  ["odd"],
  [[]],
  {},
  odd,
  [odd],
  [{ ...odd, type: "message" }],
  { format: odd }
]

it("issues of a body are never written in TypeScript's terms", () => {
  let refused = 0
  for (const [decode, fields, good] of endpoints) {
    for (const body of [{}, ...fields.flatMap((field) => wrong.map((value) => ({ ...good, [field]: value })))]) {
      const result = decode(body)
      if (Result.isSuccess(result)) continue
      refused++
      const { message } = result.failure
      const odd = /readonly|[|{<]|Missing key|another value|undefined|Response[A-Z]|Expected \w+$/.exec(message)
      expect([body, message, odd?.[0]]).toEqual([body, message, undefined])
    }
  }
  expect(refused).toBeGreaterThan(300)
})

it("issues of a body name the accepted values and the received value", () => {
  const said = (result: Result.Result<unknown, ModelRequestInvalid>) =>
    Result.isFailure(result) ? [result.failure.param, result.failure.message] : []
  const chat = (more: object) => said(decodeChat({ model: "m", messages: [{ role: "user", content: "hi" }], ...more }))
  const part = (content: unknown) => chat({ messages: [{ role: "user", content: [content] }] })
  const types = 'Expected an object of type "text", "image_url" or "refusal"'
  for (const [[param, message], where, words] of [
    [said(decodeChat({ messages: [] })), "model", "it is required"],
    [part({ type: "input_audio" }), "messages.0.content.0", `${types}, not of type "input_audio"`],
    [part({ type: "x".repeat(500) }), "messages.0.content.0", `${types}, not of type "${"x".repeat(64)}"`],
    [part("hi"), "messages.0.content.0", types],
    [part({ type: "text" }), "messages.0.content.0.text", "it is required"],
    [chat({ stop: 5 }), "stop", "Expected a string or an array"],
    [chat({ temperature: "1" }), "temperature", "Expected a number from 0 to 2"],
    [
      chat({ tool_choice: { type: "any" } }),
      "tool_choice",
      'Expected "none", "auto", "required" or an object of type "function" or "allowed_tools", not of type "any"'
    ],
    [
      said(decodeResponse({ model: "m", input: [{ role: "user", content: [{ type: "text", text: "hi" }] }] })),
      "input.0.content.0",
      'Expected an object of type "input_text", "output_text", "refusal" or "input_image", not of type "text"'
    ]
  ] as const) {
    expect([param, message]).toEqual([where, `Invalid value for '${where}': ${words}`])
  }
})
