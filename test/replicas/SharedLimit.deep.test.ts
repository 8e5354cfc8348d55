/**
 * Two server processes with one Redis: one rate limit by the headers that clients read, through the death of Redis and its
 * return. Each part takes a key of its own, so that no window of an earlier one matters.
 */
import { assert, it } from "vitest"
import { describeOnPostgres } from "@sluice/testing/engines/Postgres"
import { describeOnRedis, RedisProcess } from "@sluice/testing/engines/Redis"
import type { ServerProcess } from "@sluice/testing/servers/ServerProcess"
import { until, withTwo } from "@sluice/testing/servers/TwoServers"

const PASSWORD = "hunter2-hunter2"

const suite = () =>
  it("is one, falls apart while Redis is away, and is one again", { timeout: 300_000 }, async () => {
    const redis = await RedisProcess.started(PASSWORD)
    const scene = async (a: ServerProcess, b: ServerProcess) => {
      const newKey = async (rpm: number) => {
        const made = await a.call("POST", "/api/v1/api-keys", { name: `${rpm} a minute`, rate_limit_rpm: rpm })
        assert.strictEqual(made.status, 201, made.text)
        return made.json.data.key as string
      }
      /** The rate limit headers that a client reads. */
      const ask = async (server: ServerProcess, key: string) => {
        const authorization = `Bearer ${key}`
        const { headers, status } = await server.call("GET", "/v1/models", undefined, { authorization })
        const [limit, remaining, reset, retryAfter] = HEADERS.map((name) => headers.get(name))
        return { status, limit, remaining, reset, retryAfter }
      }
      const inTurns = async (key: string, times: number) => {
        const answers = []
        for (let i = 0; i < times; i++) answers.push(await ask(i % 2 === 0 ? a : b, key))
        return answers
      }
      const untilLimitsAre = async (limits: string) => {
        for (const server of [a, b]) {
          await until(`/readyz says ${limits}`, async () => {
            const { json, status, text } = await server.call("GET", "/readyz")
            assert.strictEqual(status, 200, text)
            return json.status === "ready" && json.rate_limits === limits ? true : undefined
          })
        }
      }

      await untilLimitsAre("shared")
      const first = await newKey(6)
      const answers = await inTurns(first, 8)
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 200, 200, 200, 429, 429]
      )
      assert.deepStrictEqual(
        answers.map(({ remaining }) => remaining),
        ["5", "4", "3", "2", "1", "0", "0", "0"]
      )
      assert.deepStrictEqual([...new Set(answers.map((answer) => answer.limit))], ["6"])
      assert.strictEqual(new Set(answers.map((answer) => answer.reset)).size, 1)
      assert.isNull(answers[5]?.retryAfter)
      assert.match(answers[6]?.retryAfter ?? "", /^\d\d?$/)

      await redis.kill()
      await untilLimitsAre("per_replica")
      // Both replicas answered that nothing is left, so there is no second window.
      assert.deepStrictEqual(
        (await inTurns(first, 2)).map(({ status }) => status),
        [429, 429]
      )
      const second = await newKey(3)
      assert.deepStrictEqual(
        (await inTurns(second, 8)).map(({ status }) => status),
        [200, 200, 200, 200, 200, 200, 429, 429]
      )

      await redis.start()
      await untilLimitsAre("shared")
      const third = await newKey(3)
      assert.deepStrictEqual(
        (await inTurns(third, 4)).map((answer) => answer.remaining),
        ["2", "1", "0", "0"]
      )

      // It accepts connections and answers nothing: the first request waits for the bound, and all requests are answered.
      redis.standStill()
      const fourth = await newKey(20)
      const asked = await Promise.all(Array.from({ length: 60 }, (_, i) => ask(i % 2 === 0 ? a : b, fourth)))
      assert.strictEqual(asked.filter(({ status }) => status === 200).length, 40)
      assert.strictEqual(asked.filter(({ status }) => status === 429).length, 20)
      await untilLimitsAre("per_replica")
      redis.goOn()
      await untilLimitsAre("shared")

      for (const { output } of [a, b]) {
        assert.strictEqual(output.split("Rate limits are shared through Redis at 127.0.0.1").length - 1, 3, output)
        assert.strictEqual(output.split("each replica counts rate limits by itself").length - 1, 2, output)
        assert.notInclude(output, PASSWORD)
      }
    }
    try {
      await withTwo(1, scene, ["--redis-url", redis.url])
    } finally {
      await redis.kill()
    }
  })

const HEADERS = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"] as const

describeOnRedis("The rate limit of a key", () => describeOnPostgres("on two replicas", suite))
