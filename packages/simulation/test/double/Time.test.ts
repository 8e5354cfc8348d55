/** When time moves in a double, and how long it is until something is given up. */
import { assert, describe, it } from "vitest"
import { call, start } from "./support/Doubles.ts"

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

describe("Time of a test double", { timeout: 60_000 }, () => {
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
})
