/** Access to `/metrics`: this machine alone without a configured token, else callers with the token; all others get a 404. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { mayRead } from "@sluice/server/metrics/MetricsRoute"
import { type IncomingMessage, request } from "node:http"
import { networkInterfaces } from "node:os"
import { TestServer, testServerOf } from "@sluice/testing/servers/TestServer"

const TOKEN = "a-token-of-metrics-0123456789"
const elsewhere = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address

interface Told {
  readonly status: number
  readonly text: string
  readonly headers: string
}

/** `address`: the requested address. A connection to an own address comes from that address. */
const ask = (
  address: string,
  port: number,
  headers: Record<string, string | ReadonlyArray<string>>,
  path = "/metrics"
) =>
  Effect.promise(
    () =>
      new Promise<Told>((resolve, reject) => {
        const given = { host: "localhost", "x-request-id": "same", ...headers }
        const asking = request({ host: address, port, path, headers: given, agent: false }, (answer) => {
          let text = ""
          answer.on("data", (bytes: Buffer) => (text += bytes.toString()))
          const { date: _, ...rest } = answer.headers
          answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text, headers: JSON.stringify(rest) }))
        })
        asking.on("error", reject)
        asking.end()
      })
  )

/** The answer is the same as to an unknown path. */
const hidden = Effect.fnUntraced(function* (
  address: string,
  port: number,
  headers: Record<string, string | ReadonlyArray<string>>
) {
  const told = yield* ask(address, port, headers)
  assert.deepStrictEqual(told, yield* ask(address, port, headers, "/nothing"))
  assert.strictEqual(told.status, 404)
})

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe("Without a token", () => {
  it.live.skipIf(elsewhere === undefined)(
    "/metrics answers this machine and no other",
    () =>
      Effect.gen(function* () {
        const { alice, port } = yield* TestServer
        assert.strictEqual((yield* ask("127.0.0.1", port, {})).status, 200)
        yield* hidden(elsewhere!, port, {})
        yield* hidden(elsewhere!, port, bearer(TOKEN))
        yield* hidden(elsewhere!, port, bearer(alice.key))
        yield* hidden(elsewhere!, port, bearer(""))
        // No header proves a local caller, but a forwarding header shows a remote one.
        for (const name of ["x-forwarded-for", "x-real-ip", "forwarded", "via"]) {
          yield* hidden(elsewhere!, port, { [name]: "127.0.0.1" })
          yield* hidden("127.0.0.1", port, { [name]: "127.0.0.1" })
        }
        const foreign = yield* ask("127.0.0.1", port, { host: "evil.example" })
        assert.strictEqual(foreign.status, 403)
      }).pipe(Effect.provide(testServerOf({ host: "0.0.0.0" }))),
    300_000
  )
})

describe("This machine", () => {
  const from = (remoteAddress: string | undefined, headers = {}) =>
    mayRead({ socket: { remoteAddress }, headers, rawHeaders: [] } as unknown as IncomingMessage, undefined)

  it("is loopback in every socket spelling, and nothing else", () => {
    for (const peer of ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", "::FFFF:127.0.0.1"]) {
      assert.isTrue(from(peer), peer)
      assert.isFalse(from(peer, { "x-forwarded-for": "127.0.0.1" }), peer)
    }
    for (const peer of [undefined, "", "10.0.0.1", "::ffff:10.0.0.1", "fe80::1", "::", "0.0.0.0", "128.0.0.1", "::2"]) {
      assert.isFalse(from(peer), peer)
    }
  })
})

describe("With a token", () => {
  it.live(
    "/metrics answers callers with that token and no others",
    () =>
      Effect.gen(function* () {
        const { alice, port } = yield* TestServer
        for (const address of ["127.0.0.1", ...(elsewhere === undefined ? [] : [elsewhere])]) {
          const told = yield* ask(address, port, bearer(TOKEN))
          assert.strictEqual(told.status, 200)
          assert.notInclude(told.text, TOKEN)
          assert.strictEqual((yield* ask(address, port, { ...bearer(TOKEN), via: "1.1 proxy" })).status, 200)
          yield* hidden(address, port, {})
          yield* hidden(address, port, bearer(alice.key))
          for (const wrong of [TOKEN.slice(1), `${TOKEN}x`, TOKEN.toUpperCase(), ""]) {
            yield* hidden(address, port, bearer(wrong))
          }
          yield* hidden(address, port, { authorization: `Basic ${TOKEN}` })
          yield* hidden(address, port, { authorization: [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`] })
          assert.strictEqual((yield* ask(address, port, { ...bearer(TOKEN), host: "evil.example" })).status, 403)
        }
      }).pipe(Effect.provide(testServerOf({ host: "0.0.0.0", metricsToken: Redacted.make(TOKEN) }))),
    300_000
  )
})
