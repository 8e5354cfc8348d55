/**
 * A server that dies and starts again, in its quick form: at a crash point between a provider's call and its commit, and by SIGKILL
 * while a job runs. No job is lost or runs twice, and the books are exact. `Points.deep.test.ts` and `Kill.deep.test.ts` are the long form.
 */
import { openEmbedded } from "@sluice/server/database/Database"
import { Effect } from "effect"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, describe, it } from "vitest"
import { type ServerProcess, temporaryDirectory } from "@sluice/testing/servers/ServerProcess"
import { servers } from "./support/Servers.ts"
import { audit, check, type Expected } from "./support/Workload.ts"

const directory = temporaryDirectory()
const begin = servers({ speed: 120, main: join(import.meta.dirname, "support", "server.ts") })
afterAll(() => directory.remove())

const LOG = "begin\nend\n"
/** Runs for a minute of the simulated world, which is half a second here. */
const submit = async (server: ServerProcess, name: string): Promise<Expected> => {
  const body = { name, command: "echo begin; sleep 60; echo end; exit 3", gpu_type: "H100", max_runtime_minutes: 5 }
  const more = { capacity_wait_minutes: 1440 }
  const answer = await server.persist("POST", "/api/v1/jobs", { ...body, ...more }, { "idempotency-key": name })
  assert.strictEqual(answer.status, 201, answer.text)
  return { id: answer.json.data.id, log: LOG, code: 3, cancelled: false }
}

/** Starts a server that dies at `point`, and gives it the job that brings it there. */
const dieAt = async (server: ServerProcess, point: string): Promise<Expected> => {
  const child = server.spawn({ CRASH_AT: point })
  const gone = once(child, "exit")
  assert.isTrue(await server.ready(child), server.output)
  const submitted = submit(server, point)
  await gone
  assert.strictEqual(child.signalCode, "SIGKILL", server.output)
  await server.start()
  return submitted
}

/** Waits until the job runs. On a busy machine it may have ended by then: the kill comes after its end, which must hold too. */
const hasBegun = async (server: ServerProcess, id: string) => {
  for (;;) {
    const { json } = await server.persist("GET", `/api/v1/jobs/${id}`)
    if (!["queued", "starting"].includes(json.data.status)) return
    await sleep(20)
  }
}

describe("A server that dies", () => {
  it("finishes each job once, with its whole log and its exact charge", async () => {
    const server = await begin(directory.path)
    const found = [await dieAt(server, "machines.launch, after")]
    found.push(await submit(server, "killed while it runs"))
    await hasBegun(server, found[1]!.id)
    await server.end("SIGKILL")
    await server.start()
    for (const expected of found) await check(server, expected)
    await server.end("SIGTERM")
    assert.deepStrictEqual(
      await Effect.runPromise(Effect.scoped(Effect.provide(audit, openEmbedded(directory.path)))),
      []
    )
  })
})
