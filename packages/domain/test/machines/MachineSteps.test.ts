/** One step of a machine: the writes before and after each provider call, and the notified jobs. */
import { expect, it } from "@effect/vitest"
import { Signals } from "@sluice/domain/database/Signals"
import { wantedFacts, type MachineFacts } from "@sluice/domain/machines/MachineLifecycle"
import { MachineOwner } from "@sluice/domain/machines/MachineOwner"
import {
  type MachineProviderService,
  MachineProvider,
  type MachineState,
  NoCapacity,
  ProviderUnavailable
} from "@sluice/domain/machines/MachineProvider"
import type { ClaimedMachine } from "@sluice/domain/machines/MachineRow"
import { MachineSecrets } from "@sluice/domain/machines/MachineSecrets"
import { MachineSteps } from "@sluice/domain/machines/MachineSteps"
import { type MachineCommit, MachineStore } from "@sluice/domain/machines/MachineStore"
import { Outputs } from "@sluice/domain/machines/Outputs"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

const T0 = Date.UTC(2027, 2, 15)
const VISIBLE_WITHIN_MS = 10_000
const machineOf = (facts: MachineFacts) =>
  ({ id: "m", jobId: "j", volumeId: "v", spec: { variables: {} }, facts, outputBytes: 5 }) as unknown as ClaimedMachine

interface World {
  /** The result of a launch. */
  launch: Effect.Effect<MachineState, NoCapacity | ProviderUnavailable>
  /** The results of observations, in order. */
  looks: ReadonlyArray<MachineState>
  /** The commit that finds the claim lost; undefined when none does. */
  lostAt?: number
}

/** Runs one step; returns its events in order, the contents of commits, and the row's next wake-up. */
const step = Effect.fnUntraced(function* (facts: MachineFacts, world: World) {
  const happened: Array<string> = []
  const commits: Array<MachineCommit> = []
  const say = (what: string) => Effect.sync(() => void happened.push(what))
  const looks = [...world.looks]
  const observed = (state: MachineState) =>
    Effect.map(Clock.currentTimeMillis, (at) => ({ state, at, nextAt: null, nextOutputAt: null }))
  const provider = {
    capabilities: { visibleWithinMs: VISIBLE_WITHIN_MS },
    launch: () => Effect.andThen(say("launch"), Effect.flatMap(world.launch, observed)),
    observe: () =>
      Effect.andThen(
        say("observe"),
        Effect.suspend(() => observed(looks.shift()!))
      ),
    stop: () => say("stop"),
    release: () => say("release")
  } as unknown as MachineProviderService
  const store = {
    commit: (commit: MachineCommit, durable: boolean) =>
      Effect.sync(() => {
        const { facts, keep, wakeAt, wakeJob } = commit
        happened.push(`${facts.status}${durable ? ", durable" : ""}${keep ? ", kept" : ""}${wakeJob ? ", told" : ""}`)
        commits.push(commit)
        const committed = commits.length !== world.lostAt
        return { committed, wakeAt, owner: committed && wakeJob ? { id: "j" } : undefined }
      })
  } as unknown as MachineStore["Service"]
  const fakes = Layer.mergeAll(
    Layer.succeed(MachineProvider, provider),
    Layer.succeed(MachineStore, store),
    Layer.succeed(Outputs, {
      drain: (_: unknown, from: number, final: boolean) =>
        Effect.as(say(final ? "drain to the end" : "drain"), from + 1)
    } as unknown as Outputs["Service"]),
    Layer.succeed(MachineSecrets, { open: () => Effect.succeed(new Map()) } as unknown as MachineSecrets["Service"]),
    Layer.succeed(MachineOwner, { stepOwner: (_, { status }) => say(`the job sees ${status}`) }),
    Layer.succeed(Signals, { emit: (topic) => void happened.push(topic), listen: () => Effect.void })
  )
  yield* TestClock.setTime(T0)
  const wakeAt = yield* Effect.provide(
    Effect.flatMap(MachineSteps, (steps) => steps.run(machineOf(facts))),
    MachineSteps.layer.pipe(Layer.provide(fakes))
  )
  return { happened, commits, wakesIn: wakeAt - T0 }
})

const launching = Effect.succeed<MachineState>({ _tag: "Launching" })
const unasked: MachineFacts = { ...wantedFacts(T0), requestedAt: null }
const running = (command: "Pending" | "Started"): MachineFacts => ({
  ...unasked,
  status: "running",
  runningAt: T0 - 10,
  commandStartedAt: command === "Started" ? T0 - 9 : null
})
const exited = { _tag: "Exited", startedAt: T0 - 9, exitedAt: T0 - 1, code: 0, why: "exit" } as const
const ran: MachineState = { _tag: "Running", since: T0 - 10, command: exited }
const gone: MachineState = { _tag: "Stopped", since: T0 - 10, stoppedAt: T0, command: exited, volumeBytes: 77 }
const END = ["stopped, durable, told", "the job sees stopped", "capacity", "release"]

it.effect("a launch is requested after its intent is on disk, and not with a lost claim", () =>
  Effect.gen(function* () {
    const told = ["launching, told", "the job sees launching"]
    const first = yield* step(unasked, { launch: launching, looks: [] })
    expect(first.happened).toEqual(["wanted, durable, kept", "launch", ...told])
    expect(first.commits[0]!.facts.requestedAt).toBe(T0)
    expect((yield* step(wantedFacts(T0), { launch: launching, looks: [] })).happened).toEqual(["launch", ...told])
    // It may be invisible for a while after the last request, and this is recorded before the request.
    const again = yield* step(wantedFacts(T0 - VISIBLE_WITHIN_MS), { launch: launching, looks: [] })
    expect(again.happened).toEqual(first.happened)
    expect(again.commits[0]!.facts.requestedAt).toBe(T0)
    const lost = yield* step(unasked, { launch: launching, looks: [], lostAt: 1 })
    expect(lost).toMatchObject({ happened: ["wanted, durable, kept"], wakesIn: Number.POSITIVE_INFINITY })
  })
)

it.effect("a launch without capacity or an answer is retried, sooner after a missing answer", () =>
  Effect.gen(function* () {
    const full = yield* step(wantedFacts(T0), { launch: Effect.fail(new NoCapacity()), looks: [] })
    expect(full).toMatchObject({ happened: ["launch", "wanted"], wakesIn: 60_000 })
    expect(full.commits[0]!.facts.requestedAt).toBeNull()
    const away = Effect.fail(new ProviderUnavailable({ cause: "away" }))
    const silent = yield* step(wantedFacts(T0), { launch: away, looks: [] })
    expect(silent).toMatchObject({ happened: ["launch", "wanted"], wakesIn: 2_000 })
    expect(silent.commits[0]!.facts.requestedAt).toBe(T0)
  })
)

it.effect("a command's exit stops its machine; the end is on disk with all its output before it has effects", () =>
  Effect.gen(function* () {
    const whole = yield* step(running("Started"), { launch: launching, looks: [ran, gone] })
    const before = ["observe", "drain", "stopping, kept", "stop", "observe", "drain to the end"]
    expect(whole).toMatchObject({ happened: [...before, ...END], wakesIn: Number.POSITIVE_INFINITY })
    expect(whole.commits.map(({ volumeBytes }) => volumeBytes)).toEqual([null, 77])
    const lost = yield* step(running("Started"), { launch: launching, looks: [ran, gone], lostAt: 2 })
    expect(lost.happened).toEqual([...before, END[0]])
    const unseen = yield* step(running("Started"), { launch: launching, looks: [ran], lostAt: 1 })
    expect(unseen.happened).toEqual(before.slice(0, 3))
  })
)

it.effect("a job is notified of changes that its status depends on, and of nothing else", () =>
  Effect.gen(function* () {
    const started = { _tag: "Started", startedAt: T0 - 9 } as const
    const seen = (command: "Pending" | "Started"): MachineState => ({
      _tag: "Running",
      since: T0 - 10,
      command: command === "Started" ? started : { _tag: "Pending" }
    })
    const tells = Effect.fnUntraced(function* (facts: MachineFacts, state: MachineState) {
      const { commits } = yield* step(facts, { launch: launching, looks: [state] })
      return commits.map(({ wakeJob }) => wakeJob)
    })
    const waiting: MachineFacts = { ...wantedFacts(T0), status: "launching" }
    expect(yield* tells(waiting, { _tag: "Launching" })).toEqual([false])
    expect(yield* tells(waiting, seen("Pending"))).toEqual([true])
    expect(yield* tells(running("Pending"), seen("Pending"))).toEqual([false])
    expect(yield* tells(running("Pending"), seen("Started"))).toEqual([true])
    expect(yield* tells(running("Started"), seen("Started"))).toEqual([false])
    expect(yield* tells(running("Started"), { _tag: "Absent" })).toEqual([false])
    const lost: MachineState = { _tag: "Lost", since: T0 - 10, lostAt: T0, reason: "gone" }
    expect(yield* tells(running("Started"), lost)).toEqual([true])
  })
)
