/** The backlog of counts: bounded for each caller and in total, and never so tight that nothing may wait. */
import { expect, it } from "@effect/vitest"
import { Backlog } from "@sluice/server/tokens/Backlog"
import fc from "fast-check"

it("the backlog bounds each caller's waiting work, and the total", () => {
  const backlog = new Backlog(100, 250)
  expect(backlog.reserve("bob", 60)).toBe(true)
  expect(backlog.reserve("bob", 41)).toBe(false)
  expect(backlog.reserve("bob", 40)).toBe(true)
  expect(backlog.reserve("alice", 100)).toBe(true)
  expect(backlog.reserve("carol", 51)).toBe(false)
  backlog.release("bob", 60)
  expect(backlog.reserve("carol", 51)).toBe(true)
})

it("the backlog accepts work larger than its bound when nothing else waits", () => {
  const backlog = new Backlog(100, 250)
  expect(backlog.reserve("bob", 1_000)).toBe(true)
  expect(backlog.reserve("alice", 1)).toBe(false)
  backlog.release("bob", 1_000)
  expect(backlog.reserve("alice", 1)).toBe(true)
})

it("the backlog is empty when all have left, in any order of arrival", () => {
  const comer = fc.record({ caller: fc.constantFrom("a", "b", "c"), bytes: fc.integer({ min: 1, max: 200 }) })
  fc.assert(
    fc.property(fc.array(comer), (comers) => {
      const backlog = new Backlog(100, 250)
      const inside = comers.filter(({ bytes, caller }) => backlog.reserve(caller, bytes))
      for (const { bytes, caller } of inside) backlog.release(caller, bytes)
      for (const caller of ["a", "b"]) expect(backlog.reserve(caller, 100)).toBe(true)
    })
  )
})
