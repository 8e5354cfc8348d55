/** The typed client against the server: the wire follows the contract, errors included. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { expect, layer } from "@effect/vitest"
import { NotFound, Unauthorized, Unprocessable } from "@sluice/api/infra/InfraErrors"
import { infraClient } from "@sluice/api/InfraClient"
import { Effect, Redacted } from "effect"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 1 }

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("typed client", (it) => {
  it.effect("calls every group of endpoints", () =>
    Effect.gen(function* () {
      const { origin, alice } = yield* TestServer
      const client = yield* infraClient({ origin, key: Redacted.make(alice.key), environment: "default" })
      const { data: made } = yield* client.jobs.create({ payload: job, query: {} })
      expect(made).toMatchObject({ status: "queued", command: "true", cost_per_hour: 2 })
      expect((yield* client.jobs.get({ params: { id: made.id }, query: {} })).data.id).toBe(made.id)
      expect((yield* client.jobs.list({ query: { limit: 1 } })).meta.total).toBe(1)
      expect((yield* client.jobs.quote({ payload: job, query: {} })).data.affordable).toBe(true)
      expect((yield* client.instances.types({ query: {} })).data.map((type) => type.id)).toContain("H100")
      expect((yield* client.templates.list({ query: {} })).data.filter((template) => template.default)).toHaveLength(1)
      const { data: volume } = yield* client.storage.create({
        payload: { name: "v", region: "eu-north", size_gb: 1 },
        query: {}
      })
      yield* client.storage.remove({ params: { id: volume.id }, query: {} })
      expect((yield* client.environments.list({ query: {} })).data[0]?.name).toBe("default")
      const { data: key } = yield* client.apiKeys.create({ payload: { name: "k" }, query: {} })
      expect(key.key.startsWith(key.prefix)).toBe(true)
      expect((yield* client.billing.balance({ query: {} })).data.balance_usd).toBeLessThanOrEqual(100)
    }).pipe(Effect.provide(NodeHttpClient.layerUndici))
  )

  it.effect("returns errors as the classes of the contract", () =>
    Effect.gen(function* () {
      const { origin, alice } = yield* TestServer
      const client = yield* infraClient({ origin, key: Redacted.make(alice.key) })
      const missing = yield* Effect.flip(client.jobs.get({ params: { id: "none" }, query: {} }))
      expect(missing).toBeInstanceOf(NotFound)
      const bad = yield* Effect.flip(client.jobs.create({ payload: { ...job, gpu_type: "none" }, query: {} }))
      expect(bad instanceof Unprocessable && bad.error.code).toBe("validation_error")
      const stranger = yield* infraClient({ origin, key: Redacted.make("svc_live_none") })
      expect(yield* Effect.flip(stranger.billing.balance({ query: {} }))).toBeInstanceOf(Unauthorized)
    }).pipe(Effect.provide(NodeHttpClient.layerUndici))
  )
})
