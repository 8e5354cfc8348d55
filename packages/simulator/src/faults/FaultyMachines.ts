/**
 * A provider of machines with faults. At the rates of the faults it does the work of the provider behind it late,
 * twice, not at all or without an answer. It keeps the promises of the port, so a control plane that follows the port
 * survives it.
 *
 * Several of them can stand before one world (replicas, restarts): all their state is in the `FaultyWorld`. A fault
 * that would keep a machine from ever ending applies to it only a few times.
 */
import type { LaunchSpec, MachineProviderService, Observation } from "@sluice/domain/machines/MachineProvider"
import { LaunchRefused, NoCapacity, ProviderUnavailable } from "@sluice/domain/machines/MachineProvider"
import { Clock, Effect, Stream } from "effect"
import { applyFaults, isExitHidden, isAlive, observeDelayed, observeLost } from "./FaultedObservation.ts"
import type { FaultPlan, FaultRanges, FaultyWorld } from "./FaultyWorld.ts"
import { faultRanges } from "./FaultyWorld.ts"
import { faultyListing } from "./FaultyListing.ts"
import { hangingMachines } from "./HangingMachines.ts"
import type { FaultDraw } from "./FaultDraw.ts"

/** The bound that the faulty provider promises. */
export const VISIBLE_WITHIN_MS = 30_000
/** Failures of one kind of call for one machine, so that a retry succeeds in the end. */
const MAX_FAILURES = 4
/** The pause between two polls of a follower for the start of its machine. */
const FOLLOW_POLL_MS = 2_000

export interface FaultyMachinesOptions {
  readonly world: FaultyWorld
  readonly ranges?: Partial<FaultRanges>
}

export const faultyMachines = (
  inner: MachineProviderService,
  faultDraw: FaultDraw,
  { world, ranges: given }: FaultyMachinesOptions
): MachineProviderService => {
  const ranges = { ...faultRanges, ...given }
  const planOf = (key: string) => world.planOf(key, faultDraw, ranges)

  /** Launches a delayed machine in the world. Where the world has no room, the launch stays delayed. */
  const start = (plan: FaultPlan, spec: LaunchSpec) =>
    inner.launch(spec).pipe(
      Effect.map(() => world.clearDelay(plan)),
      Effect.catchTags({ NoCapacity: () => Effect.void, LaunchRefused: () => Effect.void })
    )

  /** Stops the machine behind a lost one, which from then on costs nothing and writes nothing. */
  const terminateLost = Effect.fnUntraced(function* (plan: FaultPlan) {
    world.clearDelay(plan)
    if (!plan.isTerminated) yield* inner.stop(plan.key)
    plan.isTerminated = true
  })

  const observe = Effect.fnUntraced(function* (plan: FaultPlan) {
    const now = yield* Clock.currentTimeMillis
    if (plan.lostState !== undefined) return observeLost(plan.lostState, now)
    if (plan.delayedLaunch !== undefined && now >= plan.startsAt) yield* start(plan, plan.delayedLaunch)
    if (plan.isBroken) yield* terminateLost(plan)
    let seen = plan.delayedLaunch === undefined ? yield* inner.observe(plan.key) : observeDelayed(plan, now)
    const isVisible = (yield* Clock.currentTimeMillis) >= plan.visibleAt
    if (isVisible && !plan.isBroken && now >= plan.breaksAt && isAlive(seen.state)) {
      plan.isBroken = true
      faultDraw.markApplied("machine_lost", plan.key)
      yield* terminateLost(plan)
      seen = yield* inner.observe(plan.key)
    }
    if (isVisible && !plan.isExitFaultMarked && isExitHidden(plan, seen.state)) {
      plan.isExitFaultMarked = true
      faultDraw.markApplied("exit_unreported", plan.key)
    }
    const shown = applyFaults(plan, seen, yield* Clock.currentTimeMillis)
    if (shown.state._tag === "Lost") plan.lostState = shown.state
    return shown
  })

  /** Launches the machine in the world, or delays the launch. A repeated call finds the first launch. */
  const acceptLaunch = Effect.fnUntraced(function* (plan: FaultPlan, spec: LaunchSpec) {
    const now = yield* Clock.currentTimeMillis
    const isFirst = plan.launchedAt === undefined
    if (isFirst) schedule(world, plan, spec, now)
    if (plan.isBroken) return
    if (plan.delayedLaunch === undefined) {
      yield* Effect.tapError(inner.launch(spec), (error) =>
        Effect.sync(() => (error._tag !== "ProviderUnavailable" && !plan.isAccepted ? resetSchedule(plan) : undefined))
      )
      // Another server may have found no room meanwhile, and have reset the plan.
      if (plan.launchedAt === undefined) schedule(world, plan, spec, now)
      plan.isAccepted = true
    }
    if (isFirst) markLaunchFaults(plan, faultDraw)
  })

  const launch = Effect.fnUntraced(function* (spec: LaunchSpec) {
    const plan = planOf(spec.key)
    if (plan.isRefused) return yield* REFUSED
    const isUntouched = plan.launchedAt === undefined && plan.stopRequestedAt === undefined
    if (isUntouched && faultDraw.applies("launch_refused", spec.key, MAX_FAILURES)) {
      if (faultDraw.draw("refusal", spec.key) < 0.5) return yield* new NoCapacity()
      plan.isRefused = true
      return yield* REFUSED
    }
    const hasError = faultDraw.applies("launch_answers_error", spec.key, MAX_FAILURES)
    const hasEffect = !hasError || faultDraw.draw("launch-acts", spec.key) < 0.5
    if (hasEffect) yield* acceptLaunch(plan, spec)
    if (hasError) return yield* unavailable("launch")
    const seen = yield* observe(plan)
    // Some providers report a launch at once, before an observation shows it.
    return seen.state._tag === "Absent" && faultDraw.draw("launch-says", spec.key) < 0.5 ? launchingAt(seen.at) : seen
  })

  const acceptStop = Effect.fnUntraced(function* (plan: FaultPlan) {
    if (plan.stopRequestedAt === undefined) {
      const now = yield* Clock.currentTimeMillis
      const isSaving = plan.hasVolume && plan.launchedAt !== undefined && plan.delayedLaunch === undefined
      plan.stopRequestedAt = now
      world.clearDelay(plan)
      if (isSaving && faultDraw.applies("volume_save_fails", plan.key)) {
        plan.savedAt = now + faultDraw.drawBetween("saves-after", plan.key, ranges.savesAfterMs)
      }
    }
    yield* inner.stop(plan.key)
  })

  const stop = Effect.fnUntraced(function* (key: string) {
    const plan = planOf(key)
    const isFirst = plan.failingStopsLeft === undefined
    plan.failingStopsLeft ??= faultDraw.plan("stop_retries", key)
      ? faultDraw.drawBetween("tries", key, ranges.stopTries)
      : 0
    const isFailing = plan.failingStopsLeft > 0 && (isFirst || faultDraw.planAgain("stop_retries"))
    if (!isFailing) return yield* acceptStop(plan)
    plan.failingStopsLeft--
    faultDraw.markApplied("stop_retries", key)
    if (faultDraw.draw("stop-acts", key) < 0.5) yield* acceptStop(plan)
    return yield* unavailable("stop")
  })

  /** Returns the offset from which output is given when it is wanted from `from` on: some bytes are repeated. */
  const repeatFrom = (key: string, from: number, most: number) => {
    if (from === 0 || !faultDraw.applies("log_repeated", key, MAX_FAILURES)) return from
    return from - Math.min(faultDraw.drawBetween("repeated", key, ranges.repeatedBytes), from, most)
  }

  const read = (key: string, from: number, maxBytes: number) =>
    Effect.suspend(() =>
      faultDraw.applies("log_cut", key, MAX_FAILURES)
        ? unavailable("read")
        : inner.read(key, repeatFrom(key, from, maxBytes >> 1), maxBytes)
    )

  const awaitStart = (key: string): Effect.Effect<void> =>
    Effect.suspend(() =>
      world.plans.get(key)?.delayedLaunch === undefined
        ? Effect.void
        : Effect.andThen(Effect.sleep(FOLLOW_POLL_MS), awaitStart(key))
    )

  const follow = (key: string, from: number) =>
    Stream.unwrap(
      Effect.map(awaitStart(key), () => {
        const whole = inner.follow(key, repeatFrom(key, from, Number.POSITIVE_INFINITY))
        if (!faultDraw.applies("log_cut", key, MAX_FAILURES)) return whole
        return Stream.concat(
          Stream.take(whole, faultDraw.drawBetween("cut-after", key, [0, 3])),
          Stream.fromEffect(unavailable("follow"))
        )
      })
    )

  const faulty: MachineProviderService = {
    ...inner,
    capabilities: {
      ...inner.capabilities,
      visibleWithinMs: faultDraw.isEnabled("visible_late")
        ? Math.max(VISIBLE_WITHIN_MS, inner.capabilities.visibleWithinMs)
        : inner.capabilities.visibleWithinMs
    },
    gpuTypes: Effect.suspend(() =>
      faultDraw.applies("offers_fail", "offers") ? unavailable("gpuTypes") : inner.gpuTypes
    ),
    launch,
    observe: (key) =>
      Effect.suspend(() => {
        const plan = world.plans.get(key)
        return plan === undefined ? inner.observe(key) : observe(plan)
      }),
    read,
    follow,
    stop,
    list: faultyListing(inner, faultDraw, world)
  }
  return hangingMachines(faulty, faultDraw)
}

const unavailable = (call: string) => Effect.fail(new ProviderUnavailable({ cause: `injected: no answer to ${call}` }))

const REFUSED = Effect.fail(new LaunchRefused({ reason: "the provider has withdrawn this kind of machine" }))

const launchingAt = (at: number): Observation => ({
  state: { _tag: "Launching" },
  at,
  nextAt: null,
  nextOutputAt: null
})

/** Sets the times of the plan when the launch is requested. */
const schedule = (world: FaultyWorld, plan: FaultPlan, spec: LaunchSpec, now: number): void => {
  const { slowMs, invisibleMs, lostAfterMs } = plan.drawn
  plan.launchedAt = now
  plan.visibleAt = now + invisibleMs
  plan.breaksAt = now + lostAfterMs
  plan.hasVolume = spec.volumeId !== undefined
  if (slowMs > 0 && plan.stopRequestedAt === undefined) world.delayLaunch(plan, spec, now + slowMs)
}

/** Resets the times, since the world had no room. */
const resetSchedule = (plan: FaultPlan): void => {
  plan.launchedAt = undefined
  plan.visibleAt = Number.NEGATIVE_INFINITY
  plan.breaksAt = Number.POSITIVE_INFINITY
}

const markLaunchFaults = (plan: FaultPlan, faultDraw: FaultDraw): void => {
  if (plan.drawn.invisibleMs > 0) faultDraw.markApplied("visible_late", plan.key)
  if (plan.delayedLaunch !== undefined) {
    faultDraw.markApplied(Number.isFinite(plan.startsAt) ? "start_slow" : "start_endless", plan.key)
  }
}
