/** Half a surrogate pair is refused on both surfaces, wherever it stands, and never in an answer that is paid for. */
import { expect, layer } from "@effect/vitest"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"
import { Effect } from "effect"

const HALF = "x\ud83d"
const user = [{ role: "user", content: "hi" }]

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("half a surrogate pair", (it) => {
  it.effect("is a 400 that names its field on the inference surface", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const chat = { model: "sluice-small", messages: user }
      const response = { model: "sluice-small", input: "hi" }
      for (const [path, body, param] of [
        ["chat/completions", { ...chat, model: HALF }, "model"],
        ["chat/completions", { ...chat, user: HALF }, "user"],
        ["chat/completions", { ...chat, metadata: { a: HALF } }, "metadata.a"],
        ["chat/completions", { ...chat, metadata: { [HALF]: "a" } }, "metadata.x\ufffd"],
        ["chat/completions", { ...chat, prompt_cache_key: HALF }, "prompt_cache_key"],
        ["chat/completions", { ...chat, [HALF]: 1 }, "x\ufffd"],
        ["chat/completions", { ...chat, stream: true, stop: [HALF] }, "stop.0"],
        ["chat/completions?", { ...chat, messages: [{ role: "user", content: HALF }] }, "messages.0.content"],
        ["responses", { ...response, instructions: HALF }, "instructions"],
        ["responses", { ...response, metadata: { a: HALF } }, "metadata.a"],
        ["responses", { ...response, prompt_cache_key: HALF }, "prompt_cache_key"],
        ["responses", { ...response, input: HALF }, "input"],
        ["responses?", { ...response, user: HALF }, "user"],
        ["embeddings", { model: "m", input: [HALF] }, "input.0"],
        ["images/generations", { model: "m", prompt: HALF }, "prompt"],
        ["audio/speech", { model: "m", input: "a", instructions: HALF }, "instructions"],
        ["videos", { model: "m", prompt: HALF }, "prompt"]
      ] as const) {
        const { json, status, text } = yield* ask(`/v1/${path}`, { body })
        expect([path, param, status, json.error.param]).toEqual([path, param, 400, param])
        expect(json.error).toMatchObject({ type: "invalid_request_error", code: null })
        expect(text).not.toMatch(/\\ud[89a-f]/i)
      }
      const usage = (yield* ask("/api/v1/billing/usage")).json.data
      expect([usage.total_requests, usage.total_cost]).toEqual([0, 0])
    })
  )

  it.effect("is a 422 with its path on the infrastructure surface", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 5 }
      for (const [path, body, paths] of [
        ["jobs", { ...job, command: HALF, name: HALF }, ["command", "name"]],
        ["jobs", { ...job, env: { A: HALF, [HALF]: "a" } }, ["env.A", "env.x\ufffd"]],
        ["jobs", { ...job, labels: { [HALF]: "a", b: HALF } }, ["labels.x\ufffd", "labels.b"]],
        ["jobs/quote", { ...job, [HALF]: 1 }, ["x\ufffd"]],
        ["jobs/quote", { ...job, gpu_type: HALF, region: HALF, template: HALF }, ["gpu_type", "region", "template"]],
        ["storage", { name: "v", region: HALF, size_gb: 1 }, ["region"]],
        ["api-keys", { name: HALF }, ["name"]],
        ["api-keys", { name: "k", scopes: [HALF] }, ["scopes.0"]],
        ["jobs/x/cancel", { [HALF]: 1 }, ["x\ufffd"]]
      ] as const) {
        const { json, status, text } = yield* ask(`/api/v1/${path}`, { body })
        const found = json.error.details.issues.map((issue: { path: string }) => issue.path)
        expect([path, status, found]).toEqual([path, 422, paths])
        expect(text).not.toMatch(/\\ud[89a-f]/i)
      }
    })
  )

  it.effect("does not come of cutting what is shown", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 5 }
      const long = `${"x".repeat(63)}\u{1f600}${"y".repeat(90)}`
      const model = `${"x".repeat(99)}\u{1f600}`
      for (const [path, body] of [
        ["/api/v1/jobs", { ...job, env: { [long]: "a" }, labels: { [long]: "a" } }],
        ["/api/v1/jobs", { [long]: Array.from({ length: 600 }, () => 1) }],
        ["/v1/chat/completions", { model, messages: user }],
        ["/v1/chat/completions", { model: "m", messages: [{ role: "user", content: [{ type: long }] }] }]
      ] as const) {
        const { status, text } = yield* ask(path, { body })
        expect([path, status >= 400, status < 500]).toEqual([path, true, true])
        expect(text).not.toMatch(/\\ud[89a-f]/i)
      }
    })
  )
})
