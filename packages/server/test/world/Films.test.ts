/** Simulated films, which depend on their task alone. */
import { assert, it, vi } from "@effect/vitest"
import { renderFilm } from "../../src/world/Films.ts"

it("films are the same bytes in every rendering", async () => {
  vi.useFakeTimers({ toFake: ["Date"] })
  try {
    const at = async (time: string) => {
      vi.setSystemTime(new Date(time))
      return Buffer.from(await renderFilm({ kind: "film", key: 1, width: 64, height: 64, seconds: 1 }))
    }
    const film = await at("2026-07-01T00:00:00Z")
    assert.isAbove(film.indexOf("mdhd"), 0)
    assert.isTrue(film.equals(await at("2027-03-04T05:06:07Z")))
  } finally {
    vi.useRealTimers()
  }
})
