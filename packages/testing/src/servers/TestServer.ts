/**
 * The whole pipeline on a port of its own: edge, access, idempotency, handlers, domain, embedded database in memory. Only
 * the world is a small one of the test's. Two workspaces exist, each with a key and money.
 */
import { Workspaces } from "@sluice/domain/access/Workspaces"
import { Billing } from "@sluice/domain/billing/Billing"
import { NANO_PER_USD } from "@sluice/domain/billing/Money"
import { RateLimits } from "@sluice/domain/limits/RateLimits"
import { Replica } from "@sluice/domain/database/Replica"
import * as Reconcilers from "@sluice/domain/Reconcilers"
import { application } from "@sluice/server/Application"
import * as PooledCrypto from "@sluice/server/crypto/PooledCrypto"
import { inMemory } from "@sluice/server/database/Database"
import { MasterKeys } from "@sluice/server/database/MasterKey"
import { nodeSeal } from "@sluice/server/database/NodeSeal"
import { hostRule } from "@sluice/server/http/Hosts"
import { nodeServer } from "@sluice/server/http/NodeServer"
import { allRoutes, serveRoutes } from "@sluice/server/http/Routes"
import * as ServerMetrics from "@sluice/server/metrics/ServerMetrics"
import { Context, Effect, Layer, Redacted } from "effect"
import * as HttpServer from "effect/http/HttpServer"
import { testWorld } from "./TestWorld.ts"

export interface Tenant {
  readonly workspaceId: string
  readonly key: string
}

export interface Ask {
  readonly key?: string | undefined
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON, a text as it is. */
  readonly body?: unknown
}

export interface Told {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined when it is none. Tests say what they expect of it, the compiler need not. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

export class TestServer extends Context.Service<
  TestServer,
  {
    readonly origin: string
    readonly port: number
    readonly alice: Tenant
    readonly bob: Tenant
    /** One request; `alice` asks unless a key is given. */
    readonly ask: (path: string, ask?: Ask) => Effect.Effect<Told>
  }
>()("test/TestServer") {
  static readonly layer = Layer.effect(
    TestServer,
    Effect.gen(function* () {
      const { address } = yield* HttpServer.HttpServer
      const workspaces = yield* Workspaces
      const billing = yield* Billing
      const tenant = Effect.fnUntraced(function* (name: string) {
        const workspaceId = yield* Effect.orDie(workspaces.create(name))
        yield* billing.credit(workspaceId, 100n * NANO_PER_USD, `test ${name}`)
        return { workspaceId, key: Redacted.value(yield* workspaces.createKey(workspaceId, name)) }
      })
      const alice = yield* tenant("alice")
      const bob = yield* tenant("bob")
      const port = "port" in address ? address.port : 0
      const origin = `http://127.0.0.1:${port}`
      return TestServer.of({ origin, port, alice, bob, ask: (path, ask) => told(origin + path, alice.key, ask ?? {}) })
    })
  )
}

const told = (url: string, key: string, ask: Ask): Effect.Effect<Told> =>
  Effect.promise(async (signal) => {
    const bearer = "key" in ask ? ask.key : key
    const response = await fetch(url, {
      method: ask.method ?? (ask.body === undefined ? "GET" : "POST"),
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(ask.body === undefined ? {} : { "content-type": "application/json" }),
        ...ask.headers
      },
      ...(ask.body === undefined ? {} : { body: typeof ask.body === "string" ? ask.body : JSON.stringify(ask.body) }),
      signal
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: parsed(text) }
  })

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const seal = nodeSeal.pipe(
  Layer.provide(MasterKeys.layer({ given: Redacted.make(Buffer.alloc(32, 7).toString("base64")), directory: "" }))
)

/** Real time, a real port, an embedded database. */
export const testServerOf = ({ host = "127.0.0.1", metricsToken, ...rest }: Given = {}) =>
  TestServer.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(serveRoutes(hostRule([]), metricsToken), Reconcilers.layer)),
    Layer.provideMerge(nodeServer({ host, port: 0, isOurHost: hostRule([]), routes: allRoutes, ...rest })),
    Layer.provideMerge(application),
    Layer.provideMerge(RateLimits.layer),
    Layer.provideMerge(Replica.layer({ speed: 1 })),
    Layer.provideMerge(PooledCrypto.layer),
    Layer.provideMerge(Layer.mergeAll(seal, testWorld)),
    Layer.provideMerge(inMemory),
    Layer.provideMerge(ServerMetrics.layer),
    Layer.orDie
  )

export interface Given {
  readonly host?: string
  readonly metricsToken?: Redacted.Redacted
  readonly bodyMemoryBytes?: number
  readonly fileSpaceBytes?: number
  readonly silenceMs?: number
}

export const testServer = testServerOf()
