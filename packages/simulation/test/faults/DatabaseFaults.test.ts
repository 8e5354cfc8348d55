/** Statements meet their faults at the rates, by what they do, and some are never touched. */
import { describe, expect, it } from "@effect/vitest"
import type { FaultRates } from "@sluice/simulator/faults/Fault"
import { DatabaseFaults, kindOf } from "../../src/faults/DatabaseFaults.ts"
import { faultDrawOf } from "./support/Faults.ts"

const faultsOf = (rates: Partial<FaultRates>, latencyMs: readonly [number, number] = [0, 0], seed = 1) => {
  const { faultDraw, reported } = faultDrawOf(rates, seed)
  const faults = new DatabaseFaults({ faultDraw, latencyMs })
  faults.armed = true
  return { faults, reported }
}
const UPDATE = "with input as (select 1) update machines set a = 1"
const all = { database_lost: 1, database_serialization: 1, database_slow: 1 }

describe("DatabaseFaults", () => {
  it("says what a statement is about", () => {
    expect(kindOf("select * from jobs where id = $1")).toBe("select jobs")
    expect(kindOf("-- a note\n insert into entries (a) values (1)")).toBe("insert entries")
    expect(kindOf(UPDATE)).toBe("with machines")
    expect(kindOf("COMMIT")).toBe("commit")
    expect(kindOf("select 1")).toBe("select nothing")
  })

  it("spares what sets up, listens, or comes before it is armed", () => {
    const { faults, reported } = faultsOf(all, [1, 20])
    for (const text of ["LISTEN machines", "unlisten *", "create table a ()", "set x = 1", ""]) {
      expect(faults.decide(text)).toBeUndefined()
    }
    faults.armed = false
    expect(faults.decide(UPDATE)).toBeUndefined()
    expect(reported).toEqual([])
  })

  it("does nothing without rates and latency", () => {
    const { faults } = faultsOf({})
    for (let i = 0; i < 100; i++) expect(faults.decide(UPDATE)).toBeUndefined()
  })

  it("delays every statement within the latency, and slow ones for longer", () => {
    const { faults, reported } = faultsOf({ database_slow: 0.1 }, [1, 20])
    const delays = Array.from({ length: 2_000 }, () => {
      const fault = faults.decide(UPDATE)
      return fault?._tag === "Delay" ? fault.ms : Number.NaN
    })
    const slow = delays.filter((ms) => ms >= 500)
    expect(delays.every((ms) => (ms >= 1 && ms <= 20) || (ms >= 500 && ms <= 10_000))).toBe(true)
    expect(slow.length).toBe(reported.length)
    expect(slow.length).toBeGreaterThan(150)
    expect(slow.length).toBeLessThan(250)
    expect(new Set(delays.filter((ms) => ms <= 20)).size).toBe(20)
  })

  it("loses connections in every way, and breaks transactions with the real codes", () => {
    const { faults } = faultsOf({ database_lost: 0.2, database_serialization: 0.2 })
    const seen = new Map<string, number>()
    for (let i = 0; i < 2_000; i++) {
      const fault = faults.decide("commit")
      const name = fault === undefined ? "none" : fault._tag === "Error" ? fault.code : fault._tag
      seen.set(name, (seen.get(name) ?? 0) + 1)
    }
    expect([...seen.keys()].sort()).toEqual(["40001", "40P01", "57P01", "DropAfter", "DropBefore", "none"])
    const lost = (seen.get("DropAfter") ?? 0) + (seen.get("DropBefore") ?? 0) + (seen.get("57P01") ?? 0)
    expect(lost).toBeGreaterThan(340)
    expect(lost).toBeLessThan(460)
  })

  it("decides by name, whatever else is said in between", () => {
    const decisions = (others: number) => {
      const { faults } = faultsOf({ database_lost: 0.3, database_slow: 0.3 }, [1, 20])
      return Array.from({ length: 100 }, () => {
        for (let i = 0; i < others; i++) faults.decide("select * from jobs")
        return faults.decide(UPDATE)
      })
    }
    expect(decisions(3)).toEqual(decisions(0))
  })

  it("delays the world's statements, and breaks none of them", () => {
    const { faults } = faultsOf({ ...all, database_slow: 0 }, [5, 5])
    expect(faults.decide("select ordinal from sim_launch($1, $2)")).toEqual({ _tag: "Delay", ms: 5 })
  })

  it("lets a rollback through", () => {
    const { faults } = faultsOf({ ...all, database_slow: 0 })
    expect(faults.decide("ROLLBACK")).toBeUndefined()
  })
})
