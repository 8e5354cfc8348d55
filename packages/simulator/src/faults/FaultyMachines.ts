/**
 * A provider of machines with faults: what the world behind it does, it does late, twice, not at all or untold, as the
 * rates say. It keeps the port's promises, so a control plane that follows the port survives it.
 *
 * Several may stand before one world (replicas, restarts): all that they know is in the `FaultyWorld`. What would keep a
 * machine from ever ending strikes it a few times only.
 */
import type { LaunchSpec, MachineProviderService, Observation } from "@sluice/domain/machines/MachineProvider"
import { LaunchRefused, NoCapacity, ProviderUnavailable } from "@sluice/domain/machines/MachineProvider"
import { Clock, Effect, Stream } from "effect"
import { disguised, hidesExitNow, isAlive, keptBack, lostFor } from "./FaultedObservation.ts"
import type { FaultPlan, FaultRanges, FaultyWorld } from "./FaultyWorld.ts"
import { faultRanges } from "./FaultyWorld.ts"
import { faultyListing } from "./FaultyListing.ts"
import { hangingMachines } from "./HangingMachines.ts"
import type { FaultDraw } from "./FaultDraw.ts"

/** The bound that the faulty provider promises. */
export const VISIBLE_WITHIN_MS = 30_000
/** A call of one kind for one machine fails so many times at most. */
const MAX_ATTEMPTS = 4
/** How often a follower looks whether its machine has begun. */
const FOLLOW_POLL_MS = 2_000

export interface FaultyMachinesOptions {
  readonly world: FaultyWorld
  readonly ranges?: Partial<FaultRanges>
}

export const faultyMachines = (
  inner: MachineProviderService,
  strikes: FaultDraw,
  { world, ranges: given }: FaultyMachinesOptions
): MachineProviderService => {
  const ranges = { ...faultRanges, ...given }
  const fateOf = (key: string) => world.fateOf(key, strikes, ranges)

  /** Gives the world the launch that was kept back; where it finds no room it stays kept back. */
  const start = (fate: FaultPlan, spec: LaunchSpec) =>
    inner.launch(spec).pipe(
      Effect.map(() => world.letGo(fate)),
      Effect.catchTags({ NoCapacity: () => Effect.void, LaunchRefused: () => Effect.void })
    )

  /** The machine behind a lost one costs nothing and writes nothing any more. */
  const terminateLost = Effect.fnUntraced(function* (fate: FaultPlan) {
    world.letGo(fate)
    if (!fate.buried) yield* inner.stop(fate.key)
    fate.buried = true
  })

  const look = Effect.fnUntraced(function* (fate: FaultPlan) {
    const now = yield* Clock.currentTimeMillis
    if (fate.lost !== undefined) return lostFor(fate.lost, now)
    if (fate.keptBack !== undefined && now >= fate.startsAt) yield* start(fate, fate.keptBack)
    if (fate.broken) yield* terminateLost(fate)
    let seen = fate.keptBack === undefined ? yield* inner.observe(fate.key) : keptBack(fate, now)
    const visible = (yield* Clock.currentTimeMillis) >= fate.visibleAt
    if (visible && !fate.broken && now >= fate.losesAt && isAlive(seen.state)) {
      fate.broken = true
      strikes.struck("machine_lost", fate.key)
      yield* terminateLost(fate)
      seen = yield* inner.observe(fate.key)
    }
    if (visible && !fate.exitHidden && hidesExitNow(fate, seen.state)) {
      fate.exitHidden = true
      strikes.struck("exit_unreported", fate.key)
    }
    const shown = disguised(fate, seen, yield* Clock.currentTimeMillis)
    if (shown.state._tag === "Lost") fate.lost = shown.state
    return shown
  })

  /** Has the world take the launch, or keeps it back. Taken once; saying it again finds it. */
  const take = Effect.fnUntraced(function* (fate: FaultPlan, spec: LaunchSpec) {
    const now = yield* Clock.currentTimeMillis
    const first = fate.takenAt === undefined
    if (first) plan(world, fate, spec, now)
    if (fate.broken) return
    if (fate.keptBack === undefined) {
      yield* Effect.tapError(inner.launch(spec), (error) =>
        Effect.sync(() => (error._tag !== "ProviderUnavailable" && !fate.accepted ? unplan(fate) : undefined))
      )
      // Another server may have been told meanwhile that there is no room.
      if (fate.takenAt === undefined) plan(world, fate, spec, now)
      fate.accepted = true
    }
    if (first) tell(fate, strikes)
  })

  const launch = Effect.fnUntraced(function* (spec: LaunchSpec) {
    const fate = fateOf(spec.key)
    if (fate.refused) return yield* REFUSED
    const untouched = fate.takenAt === undefined && fate.stopAskedAt === undefined
    if (untouched && strikes.strikes("launch_refused", spec.key, MAX_ATTEMPTS)) {
      if (strikes.draw("refusal", spec.key) < 0.5) return yield* new NoCapacity()
      fate.refused = true
      return yield* REFUSED
    }
    const errs = strikes.strikes("launch_answers_error", spec.key, MAX_ATTEMPTS)
    const acts = !errs || strikes.draw("launch-acts", spec.key) < 0.5
    if (acts) yield* take(fate, spec)
    if (errs) return yield* unavailable("launch")
    const seen = yield* look(fate)
    // Some engines know from the first word what a look does not show yet.
    return seen.state._tag === "Absent" && strikes.draw("launch-says", spec.key) < 0.5 ? launchingAt(seen.at) : seen
  })

  const hear = Effect.fnUntraced(function* (fate: FaultPlan) {
    if (fate.stopAskedAt === undefined) {
      const now = yield* Clock.currentTimeMillis
      const saves = fate.hasVolume && fate.takenAt !== undefined && fate.keptBack === undefined
      fate.stopAskedAt = now
      world.letGo(fate)
      if (saves && strikes.strikes("volume_save_fails", fate.key)) {
        fate.savedAt = now + strikes.within("saves-after", fate.key, ranges.savesAfterMs)
      }
    }
    yield* inner.stop(fate.key)
  })

  const stop = Effect.fnUntraced(function* (key: string) {
    const fate = fateOf(key)
    const first = fate.stopsThatFail === undefined
    fate.stopsThatFail ??= strikes.planned("stop_retries", key) ? strikes.within("tries", key, ranges.stopTries) : 0
    const fails = fate.stopsThatFail > 0 && (first || strikes.again("stop_retries"))
    if (!fails) return yield* hear(fate)
    fate.stopsThatFail--
    strikes.struck("stop_retries", key)
    if (strikes.draw("stop-acts", key) < 0.5) yield* hear(fate)
    return yield* unavailable("stop")
  })

  /** From where to give the output that is wanted from `from` on: some bytes are given again. */
  const fromBefore = (key: string, from: number, most: number) => {
    if (from === 0 || !strikes.strikes("log_repeated", key, MAX_ATTEMPTS)) return from
    return from - Math.min(strikes.within("repeated", key, ranges.repeatedBytes), from, most)
  }

  const read = (key: string, from: number, maxBytes: number) =>
    Effect.suspend(() =>
      strikes.strikes("log_cut", key, MAX_ATTEMPTS)
        ? unavailable("read")
        : inner.read(key, fromBefore(key, from, maxBytes >> 1), maxBytes)
    )

  const begun = (key: string): Effect.Effect<void> =>
    Effect.suspend(() =>
      world.fates.get(key)?.keptBack === undefined
        ? Effect.void
        : Effect.andThen(Effect.sleep(FOLLOW_POLL_MS), begun(key))
    )

  const follow = (key: string, from: number) =>
    Stream.unwrap(
      Effect.map(begun(key), () => {
        const whole = inner.follow(key, fromBefore(key, from, Number.POSITIVE_INFINITY))
        if (!strikes.strikes("log_cut", key, MAX_ATTEMPTS)) return whole
        return Stream.concat(
          Stream.take(whole, strikes.within("cut-after", key, [0, 3])),
          Stream.fromEffect(unavailable("follow"))
        )
      })
    )

  const faulty: MachineProviderService = {
    ...inner,
    capabilities: {
      ...inner.capabilities,
      visibleWithinMs: strikes.mayStrike("visible_late")
        ? Math.max(VISIBLE_WITHIN_MS, inner.capabilities.visibleWithinMs)
        : inner.capabilities.visibleWithinMs
    },
    gpuTypes: Effect.suspend(() =>
      strikes.strikes("offers_fail", "offers") ? unavailable("gpuTypes") : inner.gpuTypes
    ),
    launch,
    observe: (key) =>
      Effect.suspend(() => {
        const fate = world.fates.get(key)
        return fate === undefined ? inner.observe(key) : look(fate)
      }),
    read,
    follow,
    stop,
    list: faultyListing(inner, strikes, world)
  }
  return hangingMachines(faulty, strikes)
}

const unavailable = (call: string) => Effect.fail(new ProviderUnavailable({ cause: `injected: no answer to ${call}` }))

const REFUSED = Effect.fail(new LaunchRefused({ reason: "the provider has withdrawn this kind of machine" }))

const launchingAt = (at: number): Observation => ({
  state: { _tag: "Launching" },
  at,
  nextAt: null,
  nextOutputAt: null
})

/** What its fate means in time, now that its launch is asked for. */
const plan = (world: FaultyWorld, fate: FaultPlan, spec: LaunchSpec, now: number): void => {
  const { slowMs, invisibleMs, lostAfterMs } = fate.drawn
  fate.takenAt = now
  fate.visibleAt = now + invisibleMs
  fate.losesAt = now + lostAfterMs
  fate.hasVolume = spec.volumeId !== undefined
  if (slowMs > 0 && fate.stopAskedAt === undefined) world.keepBack(fate, spec, now + slowMs)
}

/** The world had no room: as if nothing had been asked. */
const unplan = (fate: FaultPlan): void => {
  fate.takenAt = undefined
  fate.visibleAt = Number.NEGATIVE_INFINITY
  fate.losesAt = Number.POSITIVE_INFINITY
}

const tell = (fate: FaultPlan, strikes: FaultDraw): void => {
  if (fate.drawn.invisibleMs > 0) strikes.struck("visible_late", fate.key)
  if (fate.keptBack !== undefined) {
    strikes.struck(Number.isFinite(fate.startsAt) ? "start_slow" : "start_endless", fate.key)
  }
}
