/** Sound files: each is closed after it was examined, and can't make the server read another file. */
import { describe, expect, it } from "@effect/vitest"
import { existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll } from "vitest"
import { temporaryDirectory } from "@sluice/testing/servers/ServerProcess"
import { couldLast } from "../../src/media/SoundBounds.ts"
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

/** Two seconds of the same, with other numbers at some offsets of the header: 2 or 4 bytes, by the offset. */
const changed = (numbers: Readonly<Record<number, number>>): Buffer => {
  const file = wavOf(2)
  for (const [offset, value] of Object.entries(numbers)) {
    const at = Number(offset)
    if (WORDS.has(at)) file.writeUInt16LE(value, at)
    else file.writeUInt32LE(value, at)
  }
  return file
}
const [RIFF_SIZE, TAG, CHANNELS, RATE, BLOCK, DEPTH, DATA_SIZE] = [4, 20, 22, 24, 32, 34, 40]
const WORDS = new Set([TAG, CHANNELS, BLOCK, DEPTH])
const UNKNOWN = 0xffff_ffff

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
  "a sound file is closed after the examination, whether it is valid or not",
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

const durationOf = async (file: Buffer) => (await readSound(fileOf("changed.wav", file))).durationMs
const list = Buffer.from("LIST\x04\0\0\0INFO", "latin1")

describe("a WAV file", () => {
  it.each([
    ["that states the size of its sound", changed({}), 2_000],
    ["with another chunk after its sound", Buffer.concat([changed({ [RIFF_SIZE]: 16_048 }), list]), 2_000],
    ["whose sound has the size 0", changed({ [DATA_SIZE]: 0, [RIFF_SIZE]: 36 }), 2_000],
    ["whose sound and file have the size 0", changed({ [DATA_SIZE]: 0, [RIFF_SIZE]: 0 }), 2_000],
    ["whose file has the size 0", changed({ [RIFF_SIZE]: 0 }), 2_000],
    ["whose sound has the size 0xFFFFFFFF", changed({ [DATA_SIZE]: UNKNOWN }), 2_000],
    ["whose sound and file have that size", changed({ [DATA_SIZE]: UNKNOWN, [RIFF_SIZE]: UNKNOWN }), 2_000],
    ["that was cut", changed({}).subarray(0, 8_044), 1_000],
    ["whose sound is said to be longer than the file", changed({ [DATA_SIZE]: 4_000_000_000 }), 2_000],
    ["without a sample, with another chunk", Buffer.concat([wavOf(0), list]).fill(48, 4, 5), undefined],
    ["of one sample in a second", changed({ [RATE]: 1 }), undefined],
    ["of 3,999 samples in a second", changed({ [RATE]: 3_999 }), undefined],
    ["of 4,000 samples in a second", changed({ [RATE]: 4_000 }), 4_000],
    ["of 384,000 samples in a second", changed({ [RATE]: 384_000 }), 42],
    ["of 384,001 samples in a second", changed({ [RATE]: 384_001 }), undefined],
    ["of 0 samples in a second", changed({ [RATE]: 0 }), undefined],
    ["without channels", changed({ [CHANNELS]: 0 }), undefined],
    ["with 65,535 channels", changed({ [CHANNELS]: 65_535 }), undefined],
    ["with samples of no bits", changed({ [DEPTH]: 0 }), undefined],
    ["with samples of 7 bits", changed({ [DEPTH]: 7 }), undefined],
    ["with samples of 65,535 bits", changed({ [DEPTH]: 65_535 }), undefined],
    ["with samples of 16 bits in blocks of one byte", changed({ [DEPTH]: 16, [BLOCK]: 1 }), 1_000],
    ["in a format without samples", changed({ [TAG]: 85 }), undefined],
    ["that ends in its header", changed({}).subarray(0, 30), undefined]
  ])("%s is as long as its bytes", async (_, file, milliseconds) => {
    expect(await durationOf(file)).toBe(milliseconds)
  })

  it("of silence from a streaming recorder is measured by its header alone", async () => {
    const file = Buffer.concat([changed({ [DATA_SIZE]: 0, [RIFF_SIZE]: 0 }).subarray(0, 44), Buffer.alloc(24_000_000)])
    expect(await durationOf(file)).toBe(3_000_000)
  })
})

it("a compressed file lasts for no longer than its bytes can", () => {
  expect(couldLast(24_000, 48_000)).toBe(false)
  expect(couldLast(3_600, 48_000)).toBe(true)
})
