/** The test double as a suite uses it: in this process, over HTTP, on a clock that stands still. */
import { startSluice } from "../../src/double/Double.ts"
import { type SluiceOptions } from "../../src/double/SluiceOptions.ts"
import { assert, describe, it } from "vitest"
import { call, chat, refused, show, start, submit } from "./support/Doubles.ts"

describe("A test double", { timeout: 300_000 }, () => {
  it("lets no time pass but what it is told to", async () => {
    const sluice = await start()
    const id = await submit(sluice)
    assert.include(["queued", "starting"], (await show(sluice, id)).status)
    assert.strictEqual((await show(sluice, id)).started_at, null)
    await sluice.advance("30 seconds")
    const running = await show(sluice, id)
    assert.include(["starting", "running"], running.status)
    await sluice.advance("2 minutes")
    const done = await show(sluice, id)
    assert.strictEqual(done.status, "succeeded")
    assert.isAbove(done.cost_usd, 0)
    assert.strictEqual((await call(sluice, "GET", `/api/v1/jobs/${id}/logs`)).text, "one\ntwo\n")
    assert.strictEqual(sluice.now().toISOString(), "2027-01-15T00:02:30.000Z")
    const balance = (await call(sluice, "GET", "/api/v1/billing/balance")).json.data
    assert.closeTo(balance.balance_usd, 100 - done.cost_usd, 1e-9)
  })

  it("does the same for the same seed, and another for another", async () => {
    const play = async (seed: number) => {
      const sluice = await start({ seed })
      const id = await submit(sluice, "echo $RANDOM; sleep 7")
      await sluice.advance("5 minutes")
      const answer = await chat(sluice)
      const log = (await call(sluice, "GET", `/api/v1/jobs/${id}/logs`)).text
      const asked = [
        await call(sluice, "POST", "/v1/embeddings", { model: "sluice-embed-small", input: "one" }),
        await call(sluice, "GET", "/api/v1/billing/transactions"),
        await call(sluice, "GET", "/api/v1/jobs/none"),
        await call(sluice, "POST", "/v1/chat/completions", { model: "none" })
      ]
      return JSON.stringify([await show(sluice, id), log, answer, asked])
    }
    const first = await play(3)
    assert.strictEqual(await play(3), first)
    assert.notStrictEqual(await play(4), first)
  })

  it("lists the newest first, on a clock that stands still", async () => {
    const sluice = await start()
    const names = Array.from({ length: 8 }, (_, n) => `n${n}`)
    for (const name of names) {
      const job = { name, command: "true", gpu_type: "H100", max_runtime_minutes: 5 }
      assert.strictEqual((await call(sluice, "POST", "/api/v1/jobs", job)).status, 201)
      await call(sluice, "POST", "/api/v1/storage", { name, size_gb: 1, region: "us-east" })
    }
    for (const path of ["jobs", "storage"]) {
      const listed = (await call(sluice, "GET", `/api/v1/${path}`)).json.data as ReadonlyArray<{
        readonly name: string
      }>
      assert.deepEqual(
        listed.map(({ name }) => name),
        names.toReversed()
      )
    }
  })

  it("lets machines and models fail when asked to, so often as asked", async () => {
    const sluice = await start()
    const refused = sluice.fault("launch_refused", { times: 1 })
    const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 5 }
    const first = await call(sluice, "POST", "/api/v1/jobs", job)
    assert.strictEqual(refused.struck, 1)
    const second = await submit(sluice)
    await sluice.advance("5 minutes")
    assert.strictEqual((await show(sluice, second)).status, "succeeded")
    // For good, or as if there were no room just then.
    const [id, end] =
      first.status === 500 ? [first.json.error.details.job_id, "failed"] : [first.json.data.id, "succeeded"]
    assert.strictEqual((await show(sluice, id)).status, end, first.text)

    const overloaded = sluice.fault("model_429")
    const answer = await chat(sluice)
    assert.isAtLeast(answer.status, 429, answer.text)
    assert.isAbove(overloaded.struck, 0)
    overloaded.clear()
    assert.strictEqual((await chat(sluice)).status, 200)
  })

  it("lets time pass for who waits for a model, one that never answers included", async () => {
    const sluice = await start({ latency: true })
    const before = sluice.now().getTime()
    assert.strictEqual((await chat(sluice)).status, 200)
    assert.isAbove(sluice.now().getTime(), before)
    sluice.fault("model_hangs", { times: 1 })
    const hung = await chat(sluice)
    assert.isAtLeast(hung.status, 500, hung.text)
    assert.strictEqual((await chat(sluice)).status, 200)
  })

  it("survives the loss of its database's connections", async () => {
    const sluice = await start()
    const lost = sluice.fault("database_lost", { chance: 0.2 })
    const ids = []
    for (let i = 0; i < 5; i++) {
      const { json, status } = await call(sluice, "POST", "/api/v1/jobs", {
        command: "sleep 5",
        gpu_type: "H100",
        max_runtime_minutes: 5
      })
      if (status === 201) ids.push(json.data.id)
    }
    await sluice.advance("2 minutes")
    lost.clear()
    await sluice.advance("10 minutes")
    assert.isAbove(lost.struck, 0)
    for (const id of ids) assert.strictEqual((await show(sluice, id)).status, "succeeded")
  })

  it("says that asking again helps where a statement lost against another one", async () => {
    const sluice = await start()
    sluice.fault("database_serialization")
    for (const [path, body] of [
      ["/api/v1/jobs", undefined],
      ["/v1/embeddings", JSON.stringify({ model: "sluice-embed-small", input: "one" })]
    ] as const) {
      const headers = { authorization: `Bearer ${sluice.key}`, "content-type": "application/json" }
      const sent = body === undefined ? { headers } : { headers, method: "POST", body }
      const answer = await fetch(sluice.url + path, sent)
      assert.deepStrictEqual([answer.status, answer.headers.get("retry-after")], [503, "5"], path)
      assert.include(await answer.text(), "service_unavailable")
    }
  })

  it("runs on the real clock, too", async () => {
    const sluice = await start({ clock: "real" })
    assert.strictEqual((await chat(sluice)).status, 200)
    await submit(sluice)
    assert.closeTo(sluice.now().getTime(), performance.timeOrigin + performance.now(), 600_000)
    assert.include(await refused(sluice.advance(1)), "virtual")
    assert.throws(() => sluice.fault("database_slow"), /only a virtual clock can slow statements down/)
  })

  it("says all that is wrong with what it was asked for", async () => {
    const sluice = await start()
    const wrong = { seed: 0.5, clock: "fake", now: "2027-01-15", latency: 1, port: 70_000, speed: 2 }
    const why = await refused(startSluice(wrong as unknown as SluiceOptions))
    for (const name of ["seed must be a whole", 'not "fake"', "valid Date", "latency", "65535", "no option speed"]) {
      assert.include(why, name)
    }
    assert.include(await refused(startSluice(null as unknown as SluiceOptions)), "must be an object")
    const far = new Date(8.64e15)
    assert.include(await refused(startSluice({ now: far })), "years 1970 to 9998")
    assert.include(await refused(startSluice({ clock: "real", now: new Date() })), "leave it out")
    const port = Number(new URL(sluice.url).port)
    assert.match(await refused(startSluice({ port })), new RegExp(`port ${port} can't be listened on .*EADDRINUSE`))

    assert.throws(() => sluice.fault("nothing" as "model_429"), /there is no fault nothing; there are launch_refused/)
    assert.throws(() => sluice.fault("model_429", { chance: 2, times: 1.5 }), /chance must be .* times must be a whole/)
    const before = sluice.now().getTime()
    for (const duration of [
      -1,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      "30m",
      null,
      { hours: -1 },
      "-1 seconds",
      {},
      [],
      { hours: "x" },
      { hours: 1, day: 1 }
    ]) {
      assert.include(await refused(sluice.advance(duration as number)), "the duration must be", String(duration))
    }
    assert.strictEqual(sluice.now().getTime(), before)
  })

  it("closes its port, and takes no more calls", async () => {
    const sluice = await startSluice()
    await sluice.close()
    await sluice.close()
    assert.throws(() => sluice.fault("model_429"), /closed/)
    assert.include(await refused(sluice.advance(1)), "closed")
    await fetch(sluice.url).then(
      () => assert.fail("still there"),
      () => {}
    )
  })
})
