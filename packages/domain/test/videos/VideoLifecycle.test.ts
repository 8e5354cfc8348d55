/** The lifecycle of a film: for any news at any times it advances, ends once, and ends in time. */
import { describe, expect, it } from "@effect/vitest"
import type { VideoProgress } from "@sluice/domain/models/MediaProvider"
import type { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { advance, isEnded, nextPollAt, type VideoNews, type VideoState } from "@sluice/domain/videos/VideoLifecycle"
import fc from "fast-check"

const ORDERED: VideoState = { status: "queued", percent: 0, failure: null, reference: null }
const ORDER = ["queued", "in_progress", "completed"]

const progress: fc.Arbitrary<VideoProgress> = fc.oneof(
  fc.constant<VideoProgress>({ _tag: "Waiting" }),
  fc.double({ min: -50, max: 200 }).map((percent): VideoProgress => ({ _tag: "Filming", percent })),
  fc.constant<VideoProgress>({ _tag: "Completed" }),
  fc.constant<VideoProgress>({ _tag: "Absent" }),
  fc
    .constantFrom("moderation_blocked" as const, "video_generation_failed" as const)
    .map((code): VideoProgress => ({ _tag: "Failed", code }))
)
const news: fc.Arbitrary<VideoNews> = fc.oneof(
  fc.string().map((reference): VideoNews => ({ _tag: "Begun", reference })),
  progress.map((found): VideoNews => ({ _tag: "Progress", progress: found })),
  fc
    .constantFrom(
      ...(["refused", "too_large", "denied", "forbidden", "unserved", "overloaded", "broken", "timeout"] as const)
    )
    .map((reason): VideoNews => ({ _tag: "Silent", reason }))
)
const limitMs = 60_000
const moments = fc.array(fc.tuple(news, fc.integer({ min: 0, max: 20_000 })), { maxLength: 12 })

describe("VideoLifecycle", () => {
  it("advances, ends once, and never shows 100 % before the end", () => {
    fc.assert(
      fc.property(moments, (steps) => {
        let [state, now] = [ORDERED, 0]
        for (const [told, later] of steps) {
          now += later
          const next = advance(state, told, { createdAt: 0, now, limitMs })
          if (isEnded(state.status)) expect(next).toEqual(state)
          if (next.status !== "failed") {
            expect(ORDER.indexOf(next.status)).toBeGreaterThanOrEqual(ORDER.indexOf(state.status))
          }
          expect(next.percent).toBeGreaterThanOrEqual(state.percent)
          expect(next.percent === 100).toBe(next.status === "completed")
          expect(next.failure !== null).toBe(next.status === "failed")
          if (now >= limitMs) expect(isEnded(next.status)).toBe(true)
          state = next
        }
      })
    )
  })

  it("fails at once when it is refused, and retries a silent provider", () => {
    const times = { createdAt: 0, now: 1, limitMs }
    for (const reason of ["refused", "too_large", "unserved"] as const) {
      expect(advance(ORDERED, { _tag: "Silent", reason }, times).status).toBe("failed")
    }
    for (const reason of ["denied", "forbidden", "overloaded", "broken", "timeout"] as const) {
      expect(advance(ORDERED, { _tag: "Silent", reason }, times)).toEqual(ORDERED)
    }
  })

  it("gives up an order that was not accepted for ten minutes of an hour, but no started film, and none that must wait", () => {
    const at = (now: number, state: VideoState, reason: UpstreamFailed["reason"]) =>
      advance(state, { _tag: "Silent", reason }, { createdAt: 0, now, limitMs: 3_600_000 }).status
    for (const reason of ["broken", "denied", "forbidden"] as const) {
      expect(at(599_999, ORDERED, reason)).toBe("queued")
      expect(at(600_000, ORDERED, reason)).toBe("failed")
      expect(at(600_000, { ...ORDERED, reference: "up:1" }, reason)).toBe("queued")
    }
    for (const reason of ["overloaded", "timeout"] as const) expect(at(3_599_999, ORDERED, reason)).toBe("queued")
  })

  it("waits two minutes of an hour for a film unknown to its provider", () => {
    const at = (now: number) =>
      advance(ORDERED, { _tag: "Progress", progress: { _tag: "Absent" } }, { createdAt: 0, now, limitMs: 3_600_000 })
    expect(at(119_999)).toEqual(ORDERED)
    expect(at(120_000)).toMatchObject({ status: "failed", failure: "video_generation_failed" })
  })

  it("polls soon, at growing intervals, and at its limit", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 * limitMs }), (now) => {
        const at = nextPollAt({ createdAt: 0, now, limitMs })
        expect(at).toBeGreaterThanOrEqual(now + 1_000)
        expect(at).toBeLessThanOrEqual(Math.max(now + 1_000, Math.min(limitMs, now + 15_000)))
      })
    )
  })
})
