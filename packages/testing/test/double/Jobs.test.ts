/** Jobs of a test double: their logs as they run, the programs that a test stands in for, and submissions that are put off. */
import { startSluice } from "../../src/double/Double.ts"
import { assert, describe, it } from "vitest"
import { call, refused, show, start, submit } from "./support/Doubles.ts"

describe("A job of a test double", { timeout: 300_000 }, () => {
  it("shows what a command has written by now to who reads its log and goes on", async () => {
    const sluice = await start()
    const id = await submit(sluice, "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 2; done; sleep 100")
    while ((await show(sluice, id)).status !== "running") await sluice.advance("1 second")
    const read = async () => (await call(sluice, "GET", `/api/v1/jobs/${id}/logs?follow=false`)).text
    const first = await read()
    // Long before the output of a machine that nobody reads is stored.
    await sluice.advance("9 seconds")
    const second = await read()
    assert.isTrue(second.startsWith(first), second)
    assert.isAtLeast(second.length, first.length + "3\n4\n5\n6\n".length)
    await sluice.advance("2 seconds")
    assert.isAbove((await read()).length, second.length)
  })

  it.each(["log_cut", "machine_hangs"] as const)("goes on telling who follows a log after %s", async (fault) => {
    const sluice = await start()
    const id = await submit(sluice, "for i in $(seq 200); do echo $i; sleep 1; done")
    while ((await show(sluice, id)).status !== "running") await sluice.advance("1 second")
    const cut = sluice.fault(fault)
    const headers = { authorization: `Bearer ${sluice.key}` }
    const response = await fetch(`${sluice.url}/api/v1/jobs/${id}/logs`, { headers })
    let told = ""
    const reading = (async () => {
      for await (const part of response.body!) told += Buffer.from(part).toString()
    })()
    await sluice.advance("45 seconds")
    assert.isAbove(cut.struck, 0)
    // What is not followed is stored once a minute only.
    for (let second = 0; second < 70; second++) {
      await sluice.advance("1 second")
      const { started_at } = await show(sluice, id)
      const written = Math.floor((sluice.now().getTime() - Date.parse(started_at)) / 1_000)
      assert.isAtLeast(told.split("\n").length - 1, written - 4, `after ${written} s`)
    }
    await sluice.advance("5 minutes")
    await reading
    assert.strictEqual(told, Array.from({ length: 200 }, (_, i) => `${i + 1}\n`).join(""))
  })

  it("runs programs that the test stands in for", async () => {
    const python = `echo "$1 on $CUDA_VISIBLE_DEVICES"; sleep 30; echo "$@" >&2; exit 4`
    const sluice = await start({ programs: { python } })
    const id = await submit(sluice, "python train.py --lr 0.1")
    await sluice.advance("2 minutes")
    const { exit_code, status } = await show(sluice, id)
    assert.deepStrictEqual([status, exit_code], ["failed", 4])
    const log = (await call(sluice, "GET", `/api/v1/jobs/${id}/logs`)).text
    assert.strictEqual(log, "train.py on 0\ntrain.py --lr 0.1\n")
    const wrong = { cd: "true", python: "if" }
    assert.match(
      await refused(startSluice({ programs: wrong })),
      /programs\.cd .* programs\.python must be a bash script/
    )
    assert.match(
      await refused(startSluice({ programs: { "a/b": "true" } })),
      /programs must be the texts of bash scripts/
    )
  })

  it("tells who submits to come back while nobody says what can be rented, and books nothing", async () => {
    const sluice = await start()
    const post = (path: string) =>
      call(sluice, "POST", path, { command: "true", gpu_type: "H100", max_runtime_minutes: 5 })
    const unsaid = sluice.fault("offers_fail", { times: 1 })
    const first = await post("/api/v1/jobs")
    assert.deepStrictEqual([first.status, first.json.error.code], [503, "service_unavailable"], first.text)
    assert.strictEqual((await post("/api/v1/jobs")).status, 201)
    assert.strictEqual(unsaid.struck, 1)

    const silent = sluice.fault("offers_fail")
    await sluice.advance("1 minute")
    assert.strictEqual((await post("/api/v1/jobs")).status, 503)
    assert.strictEqual((await call(sluice, "GET", "/api/v1/instances/types")).status, 503)
    // The price that was known before.
    assert.strictEqual((await post("/api/v1/jobs/quote")).status, 200)
    const { total } = (await call(sluice, "GET", "/api/v1/jobs")).json.meta
    assert.strictEqual(total, 1)
    silent.clear()
    assert.strictEqual((await post("/api/v1/jobs")).status, 201)
  })
})
