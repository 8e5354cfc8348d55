/** The bounds of a chat's answer: at least one token, at most the limits of model, caller and context. */
import { expect, it } from "@effect/vitest"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { fit } from "@sluice/domain/inference/chat/ChatTask"
import { Effect, Result } from "effect"
import { modelAt } from "@sluice/testing/fixtures/Models"

it.effect("a prompt may fill the context but for one token", () =>
  Effect.gen(function* () {
    const model = modelAt(1n, 1n)
    const body = { model: "m", messages: [{ role: "user", content: "hello" }] }
    const request = Result.getOrThrow(decodeChat(body))
    // A message and the answer's beginning have seven tokens beside their text.
    const room = model.contextLength - 7
    expect(yield* fit(model, request, room - 1)).toMatchObject({ allowed: 1, promptTokens: model.contextLength - 1 })
    for (const counted of [room, room + 1]) {
      expect(yield* Effect.flip(fit(model, request, counted))).toMatchObject({
        param: "messages",
        code: "context_length_exceeded",
        // The error code that LiteLLM and others recognise.
        message: expect.stringContaining(`This model's maximum context length is ${model.contextLength} tokens`)
      })
    }
  })
)
