/** A file of sound is let go of as soon as it was looked at, and names no other one to read. */
import { expect, it } from "@effect/vitest"
import { existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll } from "vitest"
import { temporaryDirectory } from "@sluice/testing/servers/ServerProcess"
import { readSound } from "../../src/media/SoundFile.ts"
import { renderFilm } from "../../src/world/Films.ts"

const OPEN_FILES = "/proc/self/fd"
const directory = temporaryDirectory()
afterAll(directory.remove)

/** Silence of 8,000 samples a second, of one byte each. */
const wavOf = (seconds: number, samples = seconds * 8_000): Buffer => {
  const head = Buffer.alloc(44)
  head.write("RIFF")
  head.writeUInt32LE(36 + samples, 4)
  head.write("WAVEfmt ", 8)
  for (const [at, value] of [16, 0x1_0001, 8_000, 8_000, 0x8_0001].entries()) head.writeUInt32LE(value, 16 + 4 * at)
  head.write("data", 36)
  head.writeUInt32LE(samples, 40)
  return Buffer.concat([head, Buffer.alloc(samples, 0x80)])
}

const fileOf = (name: string, content: Uint8Array | string): string => {
  const path = join(directory.path, name)
  writeFileSync(path, content)
  return path
}

const openNow = (path: string) =>
  readdirSync(OPEN_FILES).filter((name) => {
    const link = join(OPEN_FILES, name)
    return existsSync(link) && readlinkSync(link) === path
  })

it.skipIf(!existsSync(OPEN_FILES))(
  "a file is open for no longer than it is read, whether it is sound or not",
  async () => {
    const sound = fileOf("long.wav", wavOf(500))
    const noise = fileOf("noise.mp3", new Uint8Array(4_000_000).fill(7))
    for (let i = 0; i < 5; i++) {
      expect((await readSound(sound)).durationMs).toBe(500_000)
      expect((await readSound(noise)).durationMs).toBeUndefined()
    }
    expect([...openNow(sound), ...openNow(noise)]).toEqual([])
  }
)

it("the shortest sound has a length; a film without sound and a sound without a sample have none", async () => {
  expect((await readSound(fileOf("one.wav", wavOf(0, 1)))).durationMs).toBe(1)
  expect((await readSound(fileOf("none.wav", wavOf(0)))).durationMs).toBeUndefined()
  const film = await renderFilm({ kind: "film", key: 1, width: 64, height: 64, seconds: 1 })
  expect((await readSound(fileOf("film.mp4", film))).durationMs).toBeUndefined()
})

it("a playlist of other files of this host is no sound", async () => {
  const other = fileOf("other.wav", wavOf(2))
  const list = ["#EXTM3U", "#EXT-X-TARGETDURATION:2", "#EXTINF:2.0,", other, "#EXT-X-ENDLIST", ""].join("\n")
  expect(await readSound(fileOf("list.m3u8", list))).toEqual({ durationMs: undefined, comment: undefined })
})
