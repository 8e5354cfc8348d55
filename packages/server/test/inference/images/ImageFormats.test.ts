/** Images of a real server that produces JPEG, through the stock client: passed on unchanged, with their true format. */
import { NodeCrypto } from "@effect/platform-node"
import { expect, layer } from "@effect/vitest"
import { UpstreamCatalog, servedModelsOf } from "@sluice/providers/openai-compatible/catalog/UpstreamCatalog"
import * as OpenAiModels from "@sluice/providers/openai-compatible/OpenAiModels"
import { Effect, Layer, Logger, Result } from "effect"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money } from "@sluice/testing/fixtures/Workspace"
import { kinds } from "@sluice/testing/upstreams/Kinds"
import { recordedServer, says } from "@sluice/testing/upstreams/RecordedServer"
import { chatServer } from "../support/ChatServer.ts"
import { customer, failure, keys, NANO } from "../support/Customer.ts"

const JPEG = "/9j/4AAQSkZJRgABAQ=="
const PNG = "iVBORw0KGgoAAAANSUhEUg=="
const PRICE = 40_000_000n

/** The response of the server, set by each test. */
let given: ReadonlyArray<string> = []

const catalog = Layer.effect(
  UpstreamCatalog,
  Effect.map(
    recordedServer((_, response) => says(response, 200, { data: given.map((b64_json) => ({ b64_json })) })),
    ({ url }) => Result.getOrThrow(servedModelsOf({ models: [kinds([{ base_url: url }]).images] }, new Map()))
  )
)
const models = OpenAiModels.layer().pipe(Layer.provide(catalog), Layer.provide(NodeCrypto.layer))
const Running = chatServer(keys, models).pipe(Layer.provideMerge(ownPglite), Layer.provide(Logger.layer([])))

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("images of a server that makes JPEG", (it) => {
  it.effect("are passed on unchanged, and the answer and the link name their format", () =>
    Effect.gen(function* () {
      const { client } = yield* customer(NANO)
      const ask = (response_format: "url" | "b64_json") =>
        Effect.promise(() => client.images.generate({ model: "i", prompt: "a harbour", n: 2, response_format }))
      given = [`data:image/jpeg;base64,${JPEG}`, JPEG]
      const files = yield* ask("b64_json")
      expect(files).toMatchObject({ output_format: "jpeg", data: [{ b64_json: JPEG }, { b64_json: JPEG }] })
      const links = yield* ask("url")
      expect(links.output_format).toBe("jpeg")
      for (const { url } of links.data!) {
        const opened = yield* Effect.promise(() => fetch(url!))
        expect([opened.status, opened.headers.get("content-type")]).toEqual([200, "image/jpeg"])
        expect(opened.headers.get("x-content-type-options")).toBe("nosniff")
        const bytes = yield* Effect.promise(() => opened.arrayBuffer())
        expect(Buffer.from(bytes).toString("base64")).toBe(JPEG)
      }
      given = [PNG, PNG]
      expect((yield* ask("b64_json")).output_format).toBe("png")
    })
  )

  it.effect("fail without a charge when one answer has two formats", () =>
    Effect.gen(function* () {
      const { client, principal } = yield* customer(PRICE * 2n)
      given = [PNG, JPEG]
      const asked = () => client.images.generate({ model: "i", prompt: "a harbour", n: 2 })
      expect(yield* failure(asked)).toMatchObject({ status: 502, code: "upstream_broken" })
      expect(yield* money(principal)).toMatchObject({ balance: PRICE * 2n, held: 0n, usage: 0n })
    })
  )
})
