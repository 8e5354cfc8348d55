/** What each failure of an upstream means: for the breaker, for the next upstream, for an order of a film, for the caller. */
import { expect, it } from "@effect/vitest"
import {
  callFailed,
  hasDoneNothing,
  statusFailed,
  toldOf,
  verdictOf,
  worthAnother
} from "@sluice/providers/openai-compatible/upstream/CallFailed"

const yes = true
const no = false

it("a failure is the upstream's or the request's, and is told in the port's words", () => {
  for (const [failure, verdict, another, nothingDone, told] of [
    [400, "Answered", no, yes, "refused"],
    [413, "Answered", no, yes, "too_large"],
    [415, "Answered", no, yes, "refused"],
    [422, "Answered", no, yes, "refused"],
    [401, "Failed", yes, yes, "denied"],
    [403, "Nothing", yes, yes, "forbidden"],
    [404, "Failed", yes, yes, "denied"],
    [408, "Failed", yes, yes, "timeout"],
    [429, "Busy", yes, yes, "overloaded"],
    [500, "Failed", yes, no, "broken"],
    [502, "Failed", yes, no, "broken"],
    [503, "Failed", yes, no, "overloaded"],
    [504, "Failed", yes, no, "timeout"],
    [302, "Failed", yes, no, "broken"],
    ["unreachable", "Failed", yes, yes, "broken"],
    ["lost", "Failed", yes, no, "broken"],
    ["timeout", "Failed", yes, no, "timeout"],
    ["cut", "Failed", yes, no, "broken"],
    ["malformed", "Failed", yes, no, "broken"],
    ["too_long", "Answered", no, yes, "too_long"],
    ["unserved", "Answered", yes, no, "unserved"]
  ] as const) {
    const failed = typeof failure === "number" ? statusFailed(failure, undefined, 0) : callFailed(failure)
    const means = [verdictOf(failed, false)._tag, worthAnother(failed), hasDoneNothing(failed), toldOf(failed).reason]
    expect([failure, ...means]).toEqual([failure, verdict, another, nothingDone, told])
  }
  // Sound servers answer some requests so: these are not counted, as long as nothing asks for rest.
  for (const [status, retryAfter, verdict] of [
    [500, undefined, "Nothing"],
    [500, "1", "Failed"],
    [502, undefined, "Failed"]
  ] as const) {
    expect([status, verdictOf(statusFailed(status, retryAfter, 0), true)._tag]).toEqual([status, verdict])
  }
})
