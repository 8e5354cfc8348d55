/** The rotation of counting work: the order of turns, recorded step by step; each step takes one turn by default. */
import { describe, expect, it } from "@effect/vitest"
import { Rotation } from "@sluice/server/tokens/Rotation"

const made = () => {
  let now = 0n
  const turns = new Rotation<string>(() => now, 10n)
  const log: Array<string> = []
  let lastId = 0
  const add = (caller: string, name: string, length: number, time = 10n) => {
    const id = ++lastId
    function* steps(): Generator<undefined, string> {
      for (let n = 1; n < length; n++) {
        now += time
        log.push(name)
        yield
      }
      now += time
      log.push(name)
      return name
    }
    turns.add(caller, { id, steps: steps() })
    return id
  }
  const done: Array<string> = []
  const turn = (times = 1) => {
    for (let n = 0; n < times; n++) {
      const ended = turns.next()
      if (ended !== undefined) done.push(ended.answer)
    }
  }
  return { turns, log, done, add, turn }
}

describe("turns", () => {
  it("let a small text pass a huge one after a turn", () => {
    const { add, done, log, turn } = made()
    add("bob", "huge", 1_000)
    turn(3)
    add("alice", "small", 1)
    turn(2)
    expect(log).toEqual(["huge", "huge", "huge", "huge", "small"])
    expect(done).toEqual(["small"])
  })

  it("are shared by callers, however much work each brings", () => {
    const { add, log, turn } = made()
    for (let n = 0; n < 5; n++) add("bob", `b${n}`, 2)
    add("alice", "a", 3)
    turn(6)
    expect(log).toEqual(["b0", "a", "b1", "a", "b2", "a"])
  })

  it("have equal length, not an equal number of steps", () => {
    const { add, done, log, turn } = made()
    add("bob", "long", 1_000, 30n)
    add("alice", "quick", 5, 2n)
    add("carol", "slower", 5, 4n)
    turn(3)
    expect(log).toEqual(["long", ...Array(5).fill("quick"), ...Array(3).fill("slower")])
    expect(done).toEqual(["quick"])
    turn(2)
    expect(log.slice(9)).toEqual(["long", "slower", "slower"])
  })

  it("rotate within one caller's own work too", () => {
    const { add, done, turn } = made()
    add("bob", "huge", 1_000)
    add("bob", "small", 2)
    turn(4)
    expect(done).toEqual(["small"])
  })

  it("are not given to work without a waiting caller", () => {
    const { add, log, turn, turns } = made()
    const huge = add("bob", "huge", 1_000)
    const other = add("bob", "other", 1_000)
    add("alice", "small", 2)
    turn(1)
    turns.drop("bob", huge)
    turns.drop("bob", huge)
    turns.drop("nobody", 99)
    turn(2)
    turns.drop("bob", other)
    turn(2)
    expect(log).toEqual(["huge", "small", "other", "small"])
    expect(turns.isIdle).toBe(true)
    expect(turns.next()).toBeUndefined()
  })
})
