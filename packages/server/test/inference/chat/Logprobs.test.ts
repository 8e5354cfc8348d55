/** Log probabilities of tokens through the stock client: the same streamed and buffered, at no extra cost. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { chatServer, simulateModels } from "../support/ChatServer.ts"
import { customer, keys, NANO, user } from "../support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))
const QUESTION = { model: "sluice-large", messages: user("How are bridges built?") }

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("logprobs through the stock client", (it) => {
  it.effect("name the tokens of the text and their likeliest alternatives, streamed and buffered", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const asked = { ...QUESTION, logprobs: true, top_logprobs: 3 }
      const whole = yield* Effect.promise(() => client.chat.completions.create(asked))
      const tokens = whole.choices[0]!.logprobs!.content!
      expect(tokens.map(({ token }) => token).join("")).toBe(whole.choices[0]!.message.content)
      for (const said of tokens) {
        expect(said.top_logprobs).toHaveLength(3)
        expect(said.top_logprobs[0]).toEqual({ token: said.token, logprob: said.logprob, bytes: said.bytes })
        expect(Buffer.from(said.bytes!).toString()).toBe(said.token)
        const chances = said.top_logprobs.map(({ logprob }) => Math.exp(logprob))
        expect(chances.toSorted((a, b) => b - a)).toEqual(chances)
        expect(chances.reduce((sum, chance) => sum + chance, 0)).toBeLessThanOrEqual(1)
      }
      const streamed = yield* Effect.promise(async () => {
        const stream = await client.chat.completions.create({
          ...asked,
          stream: true,
          stream_options: { include_usage: true }
        })
        const parts = []
        let usage: unknown
        for await (const chunk of stream) {
          parts.push(...(chunk.choices[0]?.logprobs?.content ?? []))
          usage = chunk.usage ?? usage
        }
        return { parts, usage }
      })
      expect(streamed).toEqual({ parts: tokens, usage: whole.usage })
      const plain = yield* Effect.promise(() => client.chat.completions.create(QUESTION))
      expect(plain.choices[0]).not.toHaveProperty("logprobs")
      expect(plain.usage).toEqual(whole.usage)
      const few = yield* Effect.promise(() => client.chat.completions.create({ ...QUESTION, logprobs: true }))
      expect(few.choices[0]!.logprobs!.content!.every(({ top_logprobs: top }) => top.length === 0)).toBe(true)
    })
  )
})
