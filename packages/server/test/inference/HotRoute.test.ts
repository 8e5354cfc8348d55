/** Equality of the hot route and the router's endpoint: the same request gets the same answer from both, refusals included. */
import { expect, layer } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer } from "effect"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { chatServer, simulateModels } from "./support/ChatServer.ts"
import { customer, keys, NANO, user } from "./support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))

/** The hot route does not take queries: the router answers. */
const BY = ["", "?by=router"]
/** Fields that differ from answer to answer. */
const OWN = /(chatcmpl-|resp_|msg_)[0-9a-f-]+|"created(_at)?":\d+/g

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("the hot routes of chats and responses", (it) => {
  it.effect("answer as the router does", () =>
    Effect.gen(function* () {
      const { apiKey, url } = yield* customer(NANO)
      const question = { model: "sluice-small", messages: user("hi"), input: "hi", seed: 3 }
      const asked: ReadonlyArray<readonly [body: string, headers?: Record<string, string>]> = [
        [JSON.stringify(question)],
        [JSON.stringify({ ...question, stream: true, stream_options: { include_usage: true } })],
        [JSON.stringify({ ...question, model: "nope" })],
        [JSON.stringify({ ...question, temperature: 3 })],
        ["{"],
        [JSON.stringify(question), { authorization: "Bearer svc_live_nobody" }],
        [JSON.stringify(question), { "x-environment": "nowhere" }],
        [JSON.stringify(question), { "x-request-id": "mine" }],
        [JSON.stringify(question), { "x-request-id": "not an id" }],
        [`"${"x".repeat(11 * 1024 * 1024)}"`]
      ]
      const cases = ["/v1/chat/completions", "/v1/responses"].flatMap((path) =>
        asked.map(([body, headers]) => ({ path, body, headers }))
      )
      for (const { body, headers, path } of cases) {
        const answers = yield* Effect.forEach(BY, (by) =>
          Effect.promise(async () => {
            const response = await fetch(url + path + by, {
              method: "POST",
              headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers },
              body
            })
            const kept = [...response.headers].filter(
              ([name]) => !/^(date|x-ratelimit-remaining|keep-alive)$/.test(name)
            )
            const id = response.headers.get("x-request-id") ?? ""
            const seen = kept.map(([name, value]) => `${name}: ${value.replace(id, "ID")}`).sort()
            return {
              status: response.status,
              seen,
              text: (await response.text()).replace(OWN, "").replaceAll(id, "ID")
            }
          })
        )
        expect(answers[0]).toEqual(answers[1])
        expect(answers[0]!.seen.join()).toContain("x-request-id")
      }
    })
  )
})
