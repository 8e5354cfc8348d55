/** Two server processes on one PostgreSQL: one balance, and jobs that go on when the replica that took them is killed. */
import { assert, it } from "vitest"
import { describeOnPostgres } from "@sluice/testing/engines/Postgres"
import { until, withTwo } from "@sluice/testing/servers/TwoServers"

const suite = () => {
  it("admit exactly 3 of 200 parallel submissions where the balance covers 3", { timeout: 300_000 }, () =>
    withTwo(1, async (a, b) => {
      // 8 x 2.99 USD for 65 minutes and the set-up: 31.89 USD of 100.
      const body = { command: "sleep 3600", gpu_type: "H100", gpu_count: 8, max_runtime_minutes: 65 }
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? a : b).call("POST", "/api/v1/jobs", body))
      )
      const statuses = answers.map((answer) => answer.status)
      assert.strictEqual(
        statuses.filter((status) => status === 201).length,
        3,
        JSON.stringify(answers.find((x) => x.status > 402)?.text)
      )
      assert.strictEqual(statuses.filter((status) => status === 402).length, 197)
      const refusal = answers.find((answer) => answer.status === 402)
      assert.strictEqual(refusal?.json.error.code, "insufficient_credits")
      assert.isAbove(refusal?.json.error.details.required_usd, refusal?.json.error.details.available_usd)
      const balance = (await b.call("GET", "/api/v1/billing/balance")).json.data
      assert.isAtLeast(balance.available_usd, 0)
      assert.strictEqual((await a.call("GET", "/api/v1/jobs?status=failed")).json.meta.total, 0)
    })
  )

  it("wake each other for what a caller asked of one of them", { timeout: 300_000 }, () =>
    withTwo(1, async (a, b) => {
      const body = { command: "sleep 3000", gpu_type: "L40S", max_runtime_minutes: 60 }
      const id: string = (await a.call("POST", "/api/v1/jobs", body)).json.data.id
      const follow = b.call("GET", `/api/v1/jobs/${id}/logs`, undefined, { accept: "text/event-stream" })
      const status = async () => (await a.call("GET", `/api/v1/jobs/${id}`)).json.data.status
      await until("the job runs", async () => ((await status()) === "running" ? true : undefined))
      assert.strictEqual((await b.call("POST", `/api/v1/jobs/${id}/cancel`)).status, 200)
      await until("the job is cancelled", async () => ((await status()) === "cancelled" ? true : undefined))
      const events = (await follow).text
      for (const said of ['"status":"running"', '"status":"cancelled"', "event: end"]) assert.include(events, said)
    })
  )

  it("go on with the jobs of one that is killed", { timeout: 300_000 }, () =>
    withTwo(10, async (a, b) => {
      const submit = async (command: string) => {
        const answer = await a.call("POST", "/api/v1/jobs", { command, gpu_type: "A100", max_runtime_minutes: 30 })
        assert.strictEqual(answer.status, 201, answer.text)
        const id: string = answer.json.data.id
        return id
      }
      const job = async (id: string) => (await b.call("GET", `/api/v1/jobs/${id}`)).json.data
      const runs = await submit("for i in 1 2 3 4 5 6 7 8; do echo tick $i; sleep 15; done")
      await until("the first job runs", async () => ((await job(runs)).status === "running" ? true : undefined))
      const cancelled = await submit("sleep 3000")
      await until("the second job runs", async () => ((await job(cancelled)).status === "running" ? true : undefined))
      // Killed with jobs in every state: just taken, being stopped, running.
      const taken = await Promise.all(Array.from({ length: 5 }, (_, i) => submit(`echo ${i}; sleep 5`)))
      await a.call("POST", `/api/v1/jobs/${cancelled}/cancel`)
      await a.end("SIGKILL")
      const killed = performance.now()
      await Promise.all(
        taken.map((id) =>
          until(`job ${id} starts`, async () => ((await job(id)).status === "queued" ? undefined : true))
        )
      )
      await until("the cancel is carried out", async () =>
        (await job(cancelled)).status === "cancelled" ? true : undefined
      )
      const seconds = ((performance.now() - killed) / 1_000).toFixed(1)
      for (const id of [...taken, runs]) {
        await until(`job ${id} ends`, async () => ((await job(id)).status === "succeeded" ? true : undefined))
      }
      const log = (await b.call("GET", `/api/v1/jobs/${runs}/logs`)).text
      assert.strictEqual(log, Array.from({ length: 8 }, (_, i) => `tick ${i + 1}\n`).join(""))
      console.log(`a killed replica's jobs went on after ${seconds} s`)
    })
  )
}

describeOnPostgres("Two replicas", suite)
