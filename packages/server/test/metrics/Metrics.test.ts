/** `/metrics` under real traffic: valid format, counters that only grow, series by route and model, and no caller data. */
import { assert, layer } from "@effect/vitest"
import { allRoutes } from "@sluice/server/http/Routes"
import type { Route } from "@sluice/server/http/RouteTable"
import { Effect, Schedule } from "effect"
import type { Told } from "@sluice/testing/servers/TestServer"
import { rawRequest } from "@sluice/testing/servers/RawHttp"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"
import { type Metric, parsePrometheus } from "./support/PrometheusText.ts"

const scrape = Effect.gen(function* () {
  const { ask } = yield* TestServer
  const told = yield* ask("/metrics", { key: undefined })
  assert.strictEqual(told.status, 200)
  assert.strictEqual(told.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
  return { text: told.text, metrics: parsePrometheus(told.text) }
})

/** The sum of the samples with these labels; undefined when there is none. */
const valueOf = (metrics: ReadonlyMap<string, Metric>, name: string, labels: Record<string, string> = {}) => {
  const family = metrics.get(name) ?? metrics.get(name.replace(/_(count|sum|bucket)$/, ""))
  const found = (family?.samples ?? []).filter(
    (sample) => sample.name === name && Object.entries(labels).every(([label, is]) => sample.labels[label] === is)
  )
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}

const chat = { model: "sluice-small", messages: [{ role: "user", content: "Tell me about rivers." }] }

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("/metrics", (it) => {
  it.effect("counts requests by route, status, model and outcome", () =>
    Effect.gen(function* () {
      const { ask, port } = yield* TestServer
      const before = (yield* scrape).metrics
      const answers: Array<Told> = []
      answers.push(yield* ask("/v1/chat/completions", { body: chat }))
      const streamed = yield* ask("/v1/chat/completions", { body: { ...chat, stream: true } })
      assert.include(streamed.text, "[DONE]")
      answers.push(yield* ask("/v1/embeddings", { body: { model: "sluice-embed-small", input: "rivers" } }))
      yield* ask("/v1/chat/completions", { body: { ...chat, model: "none" } })
      yield* ask("/v1/chat/completions?query=1", { body: chat, key: "svc_live_wrong" })
      const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 1 }
      const made = yield* ask("/api/v1/jobs", { body: job })
      yield* ask(`/api/v1/jobs/${made.json.data.id}`)
      yield* ask(`/api/v1/jobs/${made.json.data.id}/logs`)
      yield* ask("/api/v1/jobs", { body: { ...job, gpu_count: 99 } })
      yield* ask(`/secret-path/${made.json.data.id}`)
      yield* rawRequest(port, ["GET http://localhost/v1/models HTTP/1.1", "Host: localhost"], "")
      const { metrics } = yield* scrape

      const grew = (name: string, labels: Record<string, string>) =>
        (valueOf(metrics, name, labels) ?? 0) - (valueOf(before, name, labels) ?? 0)
      const http = (route: string, method: string, status: string) =>
        grew("sluice_http_requests_total", { route, method, status })
      assert.strictEqual(http("/v1/chat/completions", "POST", "2xx"), 2)
      assert.strictEqual(http("/v1/chat/completions", "POST", "4xx"), 2)
      assert.strictEqual(http("/v1/embeddings", "POST", "2xx"), 1)
      assert.strictEqual(http("/api/v1/jobs", "POST", "2xx"), 1)
      assert.strictEqual(http("/api/v1/jobs", "POST", "4xx"), 1)
      assert.strictEqual(http("/api/v1/jobs/:id", "GET", "2xx"), 1)
      assert.strictEqual(http("/api/v1/jobs/:id/logs", "GET", "2xx"), 1)
      assert.strictEqual(http("/v1/models", "GET", "4xx"), 1)
      assert.strictEqual(http("none", "other", "4xx"), 1)
      assert.strictEqual(http("/metrics", "GET", "2xx"), 1)
      assert.strictEqual(grew("sluice_http_request_seconds_count", { route: "/v1/chat/completions" }), 4)
      assert.strictEqual(grew("sluice_model_requests_total", { model: "sluice-small", end: "ok" }), 2)
      assert.strictEqual(grew("sluice_model_requests_total", { model: "sluice-embed-small", end: "ok" }), 1)
      assert.strictEqual(grew("sluice_model_first_token_seconds_count", { model: "sluice-small" }), 2)
      assert.strictEqual(grew("sluice_model_request_seconds_count", { model: "sluice-small" }), 2)
      const { completion_tokens, cost, prompt_tokens } = answers[0]!.json.usage
      // The streamed answer is the same and has the same cost.
      const tokens = (direction: string) => grew("sluice_model_tokens_total", { model: "sluice-small", direction })
      assert.deepStrictEqual([tokens("in"), tokens("out")], [2 * prompt_tokens, 2 * completion_tokens])
      assert.closeTo(grew("sluice_model_cost_usd_total", { model: "sluice-small" }), 2 * cost, 1e-12)
      assert.strictEqual(grew("sluice_jobs_created_total", {}), 1)
      assert.strictEqual(grew("sluice_group_commit_rows_total", { queue: "job_admissions" }), 1)
      // Three requests were reserved and settled.
      assert.strictEqual(grew("sluice_group_commit_rows_total", { queue: "metering" }), 6)
      assert.isAtLeast(grew("sluice_group_commit_flushes_total", { queue: "metering" }), 1)
      assert.strictEqual(valueOf(metrics, "sluice_group_commit_waiting_rows"), 0)
      assert.strictEqual(valueOf(metrics, "sluice_rate_limit_sharing", { state: "own" }), 1)
      assert.strictEqual(valueOf(metrics, "sluice_build_info"), 1)
      assert.isAbove(valueOf(metrics, "sluice_process_memory_bytes", { kind: "resident" })!, 10_000_000)
      assert.isAbove(valueOf(metrics, "sluice_process_cpu_seconds_total")!, 0)
      assert.isAbove(valueOf(metrics, "sluice_http_connections")!, 0)
      assert.isNumber(valueOf(metrics, "sluice_jobs", { status: "running" }))
      assert.isNumber(valueOf(metrics, "sluice_machines", { status: "stopping" }))
      assert.strictEqual(valueOf(metrics, "sluice_http_requests_open"), 1)
      assert.strictEqual(valueOf(metrics, "sluice_model_requests_open"), 0)
    })
  )

  it.effect("counts refusals of the rate limit, and jobs when they end", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const before = (yield* scrape).metrics
      const { key } = (yield* ask("/api/v1/api-keys", { body: { name: "slow", rate_limit_rpm: 1 } })).json.data
      const statuses = [200, 429, 429].map((status) =>
        Effect.map(ask("/v1/models", { key }), (told) => [told.status, status])
      )
      for (const [got, expected] of yield* Effect.all(statuses)) assert.strictEqual(got, expected)
      const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 1 }
      const { id } = (yield* ask("/api/v1/jobs", { body: job })).json.data
      // The log ends with the job.
      yield* ask(`/api/v1/jobs/${id}/logs`)
      yield* ask(`/api/v1/jobs/${id}`).pipe(
        Effect.filterOrFail(({ json }) => json.data.status === "succeeded"),
        Effect.retry(Schedule.spaced("50 millis").pipe(Schedule.upTo({ times: 10_000 }))),
        Effect.orDie
      )
      const { metrics } = yield* scrape
      const grew = (name: string, labels = {}) => valueOf(metrics, name, labels)! - valueOf(before, name, labels)!
      assert.strictEqual(grew("sluice_rate_limit_refusals_total"), 2)
      assert.strictEqual(grew("sluice_jobs_created_total"), 1)
      assert.isAtLeast(grew("sluice_jobs_ended_total", { status: "succeeded" }), 1)
      assert.strictEqual(grew("sluice_jobs_ended_total", { status: "failed" }), 0)
      assert.isAbove(grew("sluice_group_commit_rows_total", { queue: "outputs" }), 0)
    })
  )

  it.effect("labels every route of the server by its pattern", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const count = ({ method, path }: Route, metrics: ReadonlyMap<string, Metric>) =>
        valueOf(metrics, "sluice_http_requests_total", { method, route: path }) ?? 0
      const before = (yield* scrape).metrics
      for (const { method, path } of allRoutes) {
        const body = method === "GET" || method === "DELETE" ? {} : { body: {} }
        yield* ask(path.replaceAll(/:\w+/g, "some"), { method, key: undefined, ...body })
      }
      const { metrics } = yield* scrape
      assert.isAbove(allRoutes.length, 40)
      for (const route of allRoutes) {
        // The previous scrape is a request of its own.
        const grew = count(route, metrics) - count(route, before) - (route.path === "/metrics" ? 1 : 0)
        assert.deepStrictEqual([route, grew], [route, 1])
      }
    })
  )

  it.effect("never decreases a counter or a bucket", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      let before = (yield* scrape).metrics
      for (let round = 0; round < 3; round++) {
        yield* Effect.forEach(Array.from({ length: 8 }), () => ask("/v1/chat/completions", { body: chat }), {
          concurrency: "unbounded"
        })
        const { metrics } = yield* scrape
        let compared = 0
        for (const { name, samples, type } of before.values()) {
          if (type === "gauge") continue
          for (const { labels, name: sample, value } of samples) {
            const now = metrics
              .get(name)!
              .samples.find((one) => one.name === sample && JSON.stringify(one.labels) === JSON.stringify(labels))
            assert.isAtLeast(now?.value ?? -1, value, `${sample} ${JSON.stringify(labels)}`)
            compared++
          }
        }
        assert.isAbove(compared, 100)
        before = metrics
      }
    })
  )

  it.effect("contains no id, key or text of a caller", () =>
    Effect.gen(function* () {
      const { alice, ask, bob } = yield* TestServer
      const CANARY = "canary-9c2f51e0"
      const job = { command: `echo ${CANARY}`, name: CANARY, gpu_type: "H100", max_runtime_minutes: 1 }
      const made = yield* ask("/api/v1/jobs", { body: { ...job, env: { TOKEN: CANARY }, labels: { of: CANARY } } })
      const prompt = { ...chat, user: CANARY, messages: [{ role: "user", content: CANARY }] }
      yield* ask("/v1/chat/completions", { body: prompt, headers: { "x-request-id": CANARY } })
      yield* ask("/v1/chat/completions", { body: { ...prompt, model: CANARY } })
      yield* ask(`/${CANARY}?${CANARY}`, { method: "DELETE" })
      yield* ask(`/v1/models/${CANARY}`)
      yield* ask(`/api/v1/jobs/${CANARY}?${CANARY}=1`)
      const key = (yield* ask("/api/v1/api-keys", { body: { name: CANARY } })).json.data
      const { text } = yield* scrape
      const secrets = [CANARY, alice.key, alice.workspaceId, bob.workspaceId, made.json.data.id, key.id, key.key]
      for (const secret of [...secrets, alice.key.slice(0, 17), "svc_live_"]) assert.notInclude(text, secret)
      assert.notMatch(text, /[0-9a-f]{8}-[0-9a-f]{4}/)
    })
  )

  it.effect("answers HEAD, and 405 to other methods, as every route does", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const head = yield* ask("/metrics", { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.text], [200, ""])
      const posted = yield* ask("/metrics", { method: "POST", body: {} })
      assert.deepStrictEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD"])
    })
  )
})
