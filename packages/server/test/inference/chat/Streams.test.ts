/** Streams of a model that breaks, hangs or is read too slowly: the answer that the caller sees, and its charge. */
import { expect, layer } from "@effect/vitest"
import type { ChatEvent, Model } from "@sluice/domain/models/ModelProvider"
import type { UpstreamFailed as Failed } from "@sluice/domain/models/UpstreamFailed"
import { ModelProvider } from "@sluice/domain/models/ModelProvider"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { Effect, Exit, Fiber, Layer, Schedule, Scope, Stream } from "effect"
import { SqlError } from "effect/sql"
import { connect } from "node:net"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { money, openWorkspace } from "@sluice/testing/fixtures/Workspace"
import { baseUrl, chatServer, type Keys } from "../support/ChatServer.ts"
import { saying } from "@sluice/testing/fixtures/Answers"

const keys: Keys = new Map()
const text = (words: string): ChatEvent => ({ _tag: "Text", index: 0, text: words })
const finish: ChatEvent = { _tag: "Finish", index: 0, reason: "stop" }
const broken = new UpstreamFailed({ reason: "broken" })
/** The error of an unavailable database. */
const away = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("secret address") }) })
const conflict = new SqlError.SqlError({ reason: new SqlError.SerializationError({ cause: new Error("secret row") }) })
let produced = 0

const answers: Readonly<Record<string, Stream.Stream<ChatEvent, Failed>>> = {
  breaks: Stream.concat(Stream.fromArray([text("one"), text(" two")]), Stream.fail(broken)),
  refuses: Stream.fail(new UpstreamFailed({ reason: "overloaded" })),
  unserved: Stream.fail(new UpstreamFailed({ reason: "unserved" })),
  refused: Stream.fail(new UpstreamFailed({ reason: "refused" })),
  stops: Stream.concat(Stream.fromArray([text("one")]), Stream.fail(new UpstreamFailed({ reason: "refused" }))),
  cut: Stream.fromArray([text("one")]),
  empty: Stream.fromArray([finish]),
  dies: Stream.die(new Error("secret detail")),
  away: Stream.die(away),
  conflict: Stream.die(conflict),
  counts: Stream.fromArray([text("one"), finish, { _tag: "Usage", promptTokens: 7, completionTokens: 2 }]),
  hangs: Stream.concat(Stream.fromArray([text("one"), text(" two")]), Stream.never),
  floods: Stream.fromIterable([...Array.from({ length: 1_000 }, () => text("no end ".repeat(50))), finish], {
    chunkSize: 1
  }),
  endless: Stream.fromIterable(
    { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: text(`${produced++} `.repeat(200)) }) }) },
    {
      chunkSize: 1
    }
  )
}

const model = (id: string): Model => ({
  id,
  created: 0,
  ownedBy: "test",
  contextLength: 10_000_000,
  maxOutputTokens: id === "endless" ? 5_000_000 : 1_000,
  vision: false,
  promptPrice: 1_000_000_000n,
  completionPrice: 1_000_000_000n
})

const provider = Layer.succeed(ModelProvider, {
  models: Object.keys(answers).map(model),
  chat: (model, request, hear) => saying(answers[model.id] ?? Stream.empty)(model, request, hear)
})

const Running = chatServer(keys, provider).pipe(Layer.provideMerge(ownPglite))

let workspaces = 0
const ask = Effect.fn(function* (id: string, stream: boolean) {
  const principal = yield* openWorkspace(++workspaces, 1_000_000_000n)
  keys.set(`svc_live_${workspaces}`, principal)
  const url = yield* baseUrl
  const response = yield* Effect.promise(() =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer svc_live_${workspaces}`,
        "content-type": "application/json",
        "x-request-id": `test-${workspaces}`
      },
      body: JSON.stringify({
        model: id,
        messages: [{ role: "user", content: "hi" }],
        stream,
        stream_options: { include_usage: true }
      })
    })
  )
  const body = yield* Effect.promise(() => response.text())
  return { status: response.status, headers: response.headers, body, row: yield* money(principal) }
})

/** `hi` is 1 token, a message 4, the answer's beginning 3; a token costs 1,000 nano-USD here. */
const PROMPT = 8n * 1_000n

layer(Running, { excludeTestServices: true, timeout: "5 minutes" })("streams that do not end well", (it) => {
  it.effect("a model that breaks ends the stream with its text, one error and no [DONE], and the text is charged", () =>
    Effect.gen(function* () {
      const { status, headers, body, row } = yield* ask("breaks", true)
      expect(status).toBe(200)
      // No layer keeps, changes or delays the chunks.
      expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
      expect(headers.get("cache-control")).toBe("no-cache, no-transform")
      expect(headers.get("x-accel-buffering")).toBe("no")
      const events = body.split("\n\n").filter((event) => event !== "")
      expect(events).toHaveLength(3)
      expect(events[0]).toContain('"delta":{"role":"assistant","content":"one"}')
      expect(events[1]).toContain('"delta":{"content":" two"}')
      expect(JSON.parse(events[2]!.slice(6))).toMatchObject({
        error: { type: "upstream_error", code: "upstream_broken", param: null, request_id: `test-${workspaces}` }
      })
      expect(row).toMatchObject({ spent: PROMPT + 2_000n, held: 0n, usage: 1n, entries: 0n })
    })
  )

  it.effect("a refused request is the caller's error in a stream too", () =>
    Effect.gen(function* () {
      const { body } = yield* ask("stops", true)
      expect(JSON.parse(body.trim().split("\n\ndata: ")[1]!)).toMatchObject({
        error: { type: "invalid_request_error", code: "upstream_refused", param: null }
      })
    })
  )

  it.effect("an answer without a finish reason is broken, not complete", () =>
    Effect.gen(function* () {
      const { body, row } = yield* ask("cut", true)
      expect(body).toContain("upstream_broken")
      expect(body).not.toContain("[DONE]")
      expect(row).toMatchObject({ spent: PROMPT + 1_000n, held: 0n })
    })
  )

  it.effect("a failure before the first token, or of a buffered answer, is a plain error and free", () =>
    Effect.gen(function* () {
      for (const [id, stream, status] of [
        ["breaks", false, 502],
        ["cut", false, 502],
        ["refuses", true, 503],
        ["refuses", false, 503],
        ["unserved", true, 502],
        ["refused", true, 400],
        ["refused", false, 400],
        ["dies", true, 500],
        ["dies", false, 500],
        ["away", true, 503],
        ["away", false, 503],
        ["conflict", false, 503],
        ["floods", false, 502]
      ] as const) {
        const answer = yield* ask(id, stream)
        expect([id, stream, answer.status]).toEqual([id, stream, status])
        expect(answer.headers.get("content-type")).toContain("application/json")
        expect(answer.headers.get("x-ratelimit-remaining")).toBe("599")
        expect(answer.headers.get("retry-after")).toBe(status === 503 ? "5" : null)
        // The same request would be refused again.
        expect(answer.headers.get("x-should-retry")).toBe(id === "unserved" ? "false" : null)
        expect(answer.body.includes('"service_unavailable"')).toBe(id === "away" || id === "conflict")
        expect(answer.headers.get("x-request-id")).toBe(`test-${workspaces}`)
        expect(answer.body).not.toContain("secret")
        expect(answer.row).toMatchObject({ spent: 0n, held: 0n, usage: 0n, openHolds: 0n })
      }
    })
  )

  it.effect("an answer without text still has a role, an end and a usage", () =>
    Effect.gen(function* () {
      const { body, row } = yield* ask("empty", true)
      expect(body).toContain('"delta":{"role":"assistant","content":""}')
      expect(body).toContain('"finish_reason":"stop"')
      expect(body).toContain(
        '"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":0,"total_tokens":8,"cost":0.000008}'
      )
      expect(body.endsWith("data: [DONE]\n\n")).toBe(true)
      expect(row).toMatchObject({ spent: PROMPT, usage: 1n })
    })
  )

  it.effect("the model's own token count is billed", () =>
    Effect.gen(function* () {
      const { row } = yield* ask("counts", false)
      expect(row).toMatchObject({ spent: 9_000n, held: 0n })
    })
  )

  it.effect("a stalled reader makes the model wait, and pays when it disconnects", () =>
    Effect.gen(function* () {
      const principal = yield* openWorkspace(++workspaces, 10_000_000_000n)
      keys.set(`svc_live_${workspaces}`, principal)
      const { port } = new URL(yield* baseUrl)
      const body = JSON.stringify({ model: "endless", messages: [{ role: "user", content: "hi" }], stream: true })
      const socket = connect(Number(port), "127.0.0.1")
      socket.pause()
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer svc_live_${workspaces}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      )
      const still = Effect.gen(function* () {
        const before = produced
        yield* Effect.sleep("300 millis")
        return before > 0 && before === produced
      })
      yield* still.pipe(
        Effect.filterOrFail((calm) => calm),
        Effect.retry(Schedule.recurs(30))
      )
      socket.destroy()
      const row = yield* money(principal).pipe(
        Effect.filterOrFail(({ usage }) => usage === 1n),
        Effect.retry(Schedule.spaced("20 millis").pipe(Schedule.upTo({ times: 10_000 })))
      )
      expect(row).toMatchObject({ held: 0n, openHolds: 0n, entries: 0n })
      // 200 numbers an event, each at least a token and a space.
      expect(row.spent).toBeGreaterThanOrEqual(BigInt(produced - 2) * 200n * 1_000n)
      expect(produced).toBeLessThan(20_000)
    })
  )

  it.effect("a server that stops says so in the stream, after it has settled", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const stopping = yield* Layer.buildWithScope(Layer.fresh(chatServer(keys, provider)), scope)
      const principal = yield* openWorkspace(++workspaces, 1_000_000_000n)
      keys.set(`svc_live_${workspaces}`, principal)
      const url = yield* Effect.provide(baseUrl, stopping)
      const ask = (stream: boolean) =>
        Effect.promise(() =>
          fetch(`${url}/v1/chat/completions`, {
            method: "POST",
            headers: { authorization: `Bearer svc_live_${workspaces}`, "content-type": "application/json" },
            body: JSON.stringify({ model: "hangs", messages: [{ role: "user", content: "hi" }], stream })
          })
        )
      const buffered = yield* Effect.forkChild(ask(false))
      const response = yield* ask(true)
      const body = yield* Effect.forkChild(Effect.promise(() => response.text()))
      yield* Scope.close(scope, Exit.void)
      // A buffered answer was not seen by its caller: the caller is asked to retry, at no cost.
      const refused = yield* Fiber.join(buffered)
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"])
      expect(yield* Effect.promise(() => refused.text())).toContain('"code":"server_stopping"')
      const told = yield* Fiber.join(body)
      expect(told).toContain('"content":" two"')
      expect(told).toContain('"code":"server_stopping"')
      expect(told).not.toContain("[DONE]")
      expect(yield* money(principal)).toMatchObject({ spent: PROMPT + 2_000n, held: 0n, usage: 1n, openHolds: 0n })
    })
  )
})
