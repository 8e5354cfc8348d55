/** When time moves in a double, and how long it is until something is given up. */
import { assert, describe, it } from "vitest"
import type { Sluice } from "../../src/double/Double.ts"
import { call, chat, show, start, submit } from "./support/Doubles.ts"

/** A second of silence that nobody here has said anything in. */
const silence = () => {
  const wav = Buffer.alloc(44 + 32_000)
  wav.write("RIFF")
  wav.writeUInt32LE(36 + 32_000, 4)
  wav.write("WAVEfmt ", 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(16_000, 24)
  wav.writeUInt32LE(32_000, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write("data", 36)
  wav.writeUInt32LE(32_000, 40)
  return wav
}

const statusOf = async (sluice: Sluice, film: string) =>
  (await call(sluice, "GET", `/v1/videos/${film}`)).json.status as string

describe("Time of a test double", { timeout: 300_000 }, () => {
  it("stands still while a picture is compressed and a file is read", async () => {
    const sluice = await start()
    const before = sluice.now().getTime()
    for (let i = 0; i < 3; i++) {
      const picture = { model: "sluice-image", prompt: `picture ${i}`, size: "1024x1024" }
      const drawn = await call(sluice, "POST", "/v1/images/generations", picture)
      assert.strictEqual(drawn.status, 200, drawn.text)
      assert.strictEqual(sluice.now().getTime(), before)
      const form = new FormData()
      form.append("model", "sluice-listen")
      form.append("file", new Blob([silence()]), "silence.wav")
      const headers = { authorization: `Bearer ${sluice.key}` }
      const heard = await fetch(`${sluice.url}/v1/audio/transcriptions`, { method: "POST", headers, body: form })
      assert.strictEqual(heard.status, 200, await heard.text())
      assert.strictEqual(sluice.now().getTime(), before)
    }
  })

  it("bounds what a model and a machine may take as everywhere", async () => {
    const sluice = await start()
    const before = sluice.now().getTime()
    const minutes = () => (sluice.now().getTime() - before) / 60_000
    sluice.fault("model_hangs", { times: 1 })
    assert.strictEqual((await chat(sluice)).status, 504)
    assert.strictEqual(minutes(), 20)

    const id = await submit(sluice, "sleep 4m")
    await sluice.advance("2 minutes")
    assert.strictEqual((await show(sluice, id)).status, "running")
    const hanging = sluice.fault("machine_hangs", { times: 1 })
    await call(sluice, "POST", `/api/v1/jobs/${id}/cancel`)
    await sluice.advance("40 seconds")
    assert.strictEqual((await show(sluice, id)).status, "cancelled")
    assert.strictEqual(hanging.struck, 1)
  })

  it("moves for who waits for a model that hangs, whatever was asked of it", async () => {
    const sluice = await start()
    const order = { model: "sluice-film", prompt: "a film", seconds: "4", size: "640x368" }
    const { id } = (await call(sluice, "POST", "/v1/videos", order)).json
    await sluice.advance("10 minutes")
    const before = sluice.now().getTime()
    const asked = [
      ["POST", "/v1/embeddings", { model: "sluice-embed-small", input: "one" }],
      ["POST", "/v1/images/generations", { model: "sluice-image", prompt: "one", size: "256x256" }],
      ["POST", "/v1/audio/speech", { model: "sluice-voice", input: "one" }],
      ["POST", "/v1/responses", { model: "sluice-small", input: "one" }],
      ["GET", `/v1/videos/${id}/content`]
    ] as const
    for (const [n, [method, path, body]] of asked.entries()) {
      sluice.fault("model_hangs", { times: 1 })
      const answer = await call(sluice, method, path, body)
      assert.strictEqual(answer.status, 504, `${path}: ${answer.text}`)
      assert.strictEqual((sluice.now().getTime() - before) / 60_000, 20 * (n + 1), path)
    }
  })

  it.each(["database_lost", "database_serialization"] as const)(
    "moves for who waits until a statement is tried again, the same each time: %s",
    { timeout: 300_000 },
    async (name) => {
      const body = JSON.stringify({ command: "true", gpu_type: "H100", max_runtime_minutes: 5 })
      const hasIdempotencyKey = async (sluice: Sluice, key: string) => {
        const said = { "content-type": "application/json", "idempotency-key": key }
        const headers = { authorization: `Bearer ${sluice.key}`, ...said }
        const { status } = await fetch(`${sluice.url}/api/v1/jobs`, { method: "POST", headers, body })
        assert.include([201, 503], status)
        return status
      }
      const embed = (sluice: Sluice) =>
        call(sluice, "POST", "/v1/embeddings", { model: "sluice-embed-small", input: "one" })
      const play = async () => {
        const sluice = await start()
        const told: Array<unknown> = []
        for (let n = 0; n < 8; n++) {
          for (const ask of [() => chat(sluice), () => embed(sluice), () => hasIdempotencyKey(sluice, `key ${n}`)]) {
            const fault = sluice.fault(name, { chance: 0.5, times: 1 })
            told.push(await ask(), fault.struck, sluice.now())
            fault.clear()
          }
        }
        return JSON.stringify(told)
      }
      const told = await play()
      assert.strictEqual(await play(), told)
    }
  )

  it("stands still after a statement that nobody waits for has failed", async () => {
    const sluice = await start()
    const lost = sluice.fault("database_lost")
    await sluice.advance("90 seconds")
    assert.isAbove(lost.struck, 0)
    lost.clear()
    const before = sluice.now().getTime()
    for (let turn = 0; turn < 100; turn++) await new Promise((resume) => setImmediate(resume))
    assert.strictEqual(sluice.now().getTime(), before)
  })

  it("bounds what a film may take as everywhere", async () => {
    const sluice = await start()
    const order = { model: "sluice-film", prompt: "a film", seconds: "4", size: "640x368" }
    const film = async () => (await call(sluice, "POST", "/v1/videos", order)).json.id as string
    const broken = sluice.fault("model_500")
    const untaken = await film()
    await sluice.advance("9 minutes")
    assert.strictEqual(await statusOf(sluice, untaken), "queued")
    await sluice.advance("2 minutes")
    assert.strictEqual(await statusOf(sluice, untaken), "failed")
    broken.clear()
    sluice.fault("model_hangs")
    const hung = await film()
    await sluice.advance("59 minutes")
    assert.strictEqual(await statusOf(sluice, hung), "queued")
    await sluice.advance("2 minutes")
    assert.strictEqual(await statusOf(sluice, hung), "failed")
  })
})
