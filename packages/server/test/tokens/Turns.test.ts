/** Who waits for whom, with work of which each step is written down. */
import { describe, expect, it } from "@effect/vitest"
import { Turns } from "@sluice/server/tokens/Turns"

const made = () => {
  const turns = new Turns<string>()
  const log: Array<string> = []
  let lastId = 0
  const add = (caller: string, name: string, length: number) => {
    const id = ++lastId
    function* steps(): Generator<undefined, string> {
      for (let n = 1; n < length; n++) {
        log.push(name)
        yield
      }
      log.push(name)
      return name
    }
    turns.add(caller, { id, steps: steps() })
    return id
  }
  const done: Array<string> = []
  const step = (times = 1) => {
    for (let n = 0; n < times; n++) {
      const ended = turns.step()
      if (ended !== undefined) done.push(ended.answer)
    }
  }
  return { turns, log, done, add, step }
}

describe("turns", () => {
  it("let a small one pass a huge one after a step", () => {
    const { add, done, log, step } = made()
    add("bob", "huge", 1_000)
    step(3)
    add("alice", "small", 1)
    step(2)
    expect(log).toEqual(["huge", "huge", "huge", "huge", "small"])
    expect(done).toEqual(["small"])
  })

  it("are the callers', however much each brings", () => {
    const { add, log, step } = made()
    for (let n = 0; n < 5; n++) add("bob", `b${n}`, 2)
    add("alice", "a", 3)
    step(6)
    expect(log).toEqual(["b0", "a", "b1", "a", "b2", "a"])
  })

  it("are those of a caller's own work too", () => {
    const { add, done, step } = made()
    add("bob", "huge", 1_000)
    add("bob", "small", 2)
    step(4)
    expect(done).toEqual(["small"])
  })

  it("are not given to what nobody waits for", () => {
    const { add, log, step, turns } = made()
    const huge = add("bob", "huge", 1_000)
    const other = add("bob", "other", 1_000)
    add("alice", "small", 2)
    step(1)
    turns.drop("bob", huge)
    turns.drop("bob", huge)
    turns.drop("nobody", 99)
    step(2)
    turns.drop("bob", other)
    step(2)
    expect(log).toEqual(["huge", "small", "other", "small"])
    expect(turns.isIdle).toBe(true)
    expect(turns.step()).toBeUndefined()
  })
})
