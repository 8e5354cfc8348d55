/** A flood is part of its run: the same in every process, and a run that is cut short begins as the whole one. */
import { expect, it } from "@effect/vitest"
import * as InlineShell from "@sluice/machine-shell/InlineShell"
import { Shell, type ShellRun } from "@sluice/machine-shell/Shell"
import { Effect } from "effect"
import { chance } from "@sluice/machine-shell/Chance"
import { LogFloods } from "@sluice/simulator/faults/LogFloods"
import { ratesOf, faultDrawOf } from "./support/Faults.ts"

const run: ShellRun = {
  command: "echo now; sleep 10; echo then",
  env: { SERVICE_JOB_NAME: "job-1" },
  files: [],
  hostname: "machine-1",
  gpu: { name: "g", memoryMib: 1, powerWatts: 1, computeCapability: "9.0", count: 1 },
  seed: 1,
  startedAt: 1_000_000,
  untilMs: Infinity,
  keepFiles: false
}
const floodsOf = (rate: number, seed = 1) => {
  const { faultDraw, reported } = faultDrawOf({ log_flood: rate }, seed)
  const subjectOf = (one: ShellRun) => one.env["SERVICE_JOB_NAME"]!
  return {
    floods: new LogFloods({ chance: chance(seed), rates: ratesOf({ log_flood: rate }), faultDraw, subjectOf }),
    reported
  }
}
const timelineOf = (floods: LogFloods, over: Partial<ShellRun> = {}) =>
  Effect.provide(
    Effect.flatMap(Shell, (shell) => floods.shell(shell).run({ ...run, ...over })),
    InlineShell.layer
  )

it.effect("floods before the command's own words, and is counted once", () =>
  Effect.gen(function* () {
    const { floods, reported } = floodsOf(1)
    const { chunks } = yield* timelineOf(floods)
    const again = yield* timelineOf(floods)
    const flood = floods.floodOf("job-1")
    const first = Buffer.from(chunks[0]!.bytes)
    expect(flood.length).toBeGreaterThanOrEqual(1024 * 1024)
    expect(first.subarray(flood.length).toString()).toBe("now\n")
    expect(first.subarray(0, flood.length).equals(flood)).toBe(true)
    expect(chunks.map((chunk) => chunk.at)).toEqual([1_000_000, 1_010_000])
    expect(again.chunks[0]!.bytes.length).toBe(first.length)
    expect(reported).toEqual([{ at: 0, fault: "log_flood", subject: "job-1" }])
  })
)

it.effect("a run that is cut short has written the beginning of the whole one", () =>
  Effect.gen(function* () {
    const { floods } = floodsOf(1)
    for (const command of [run.command, "sleep 5; echo late"]) {
      const whole = yield* timelineOf(floods, { command })
      const cut = yield* timelineOf(floodsOf(1).floods, { command, untilMs: run.startedAt + 2 })
      expect(cut.chunks.map((chunk) => chunk.bytes.length)).toEqual([whole.chunks[0]!.bytes.length])
    }
  })
)

it("spares as many as the rate says", () => {
  const { floods, reported } = floodsOf(0.2)
  for (let i = 0; i < 1_000; i++) floods.floodOf(`job-${i}`)
  expect(reported.length).toBeGreaterThan(150)
  expect(reported.length).toBeLessThan(250)
})

it("a run that flooded does so again, and one that was spared does not, whatever the rate is by then", () => {
  const rates = { ...ratesOf({ log_flood: 1 }) }
  const { faultDraw } = faultDrawOf(rates)
  const floods = new LogFloods({ chance: chance(1), rates, faultDraw, subjectOf: ({ hostname }) => hostname })
  const size = (subject: string) => floods.floodOf(subject).length
  const flooded = size("one")
  expect(flooded).toBeGreaterThan(0)
  rates.log_flood = 0
  expect([size("one"), size("two")]).toEqual([flooded, 0])
  rates.log_flood = 1
  expect(size("two")).toBe(0)
})

it.effect("a run that takes the host long is known for that, and how long others wait for it", () =>
  Effect.gen(function* () {
    const { floods } = floodsOf(1)
    const patience = Effect.void
    const told: Array<string> = []
    const shell = yield* Effect.provide(Shell, InlineShell.layer)
    const slow = floods.shell({
      patience,
      run: (run, slow = () => {}) => Effect.andThen(Effect.sync(slow), shell.run(run))
    })
    yield* slow.run(run, () => void told.push("slow"))
    expect([told, slow.patience]).toEqual([["slow"], patience])
  })
)
