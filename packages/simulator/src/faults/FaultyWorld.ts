/**
 * State of the faults of a world's machines: delayed launches, lost machines, hidden exits. One object for a run: the
 * faulty providers of all servers share it, and it outlives them as the world does.
 *
 * The faults of a machine are drawn when its launch is first requested, so they depend only on the machine's name. A
 * lost machine stays lost until 100,000 newer machines are known.
 */
import type { LaunchSpec, MachineState } from "@sluice/domain/machines/MachineProvider"
import { remember, type FaultDraw } from "./FaultDraw.ts"

/** From, to. */
export type Range = readonly [number, number]

export interface FaultRanges {
  /** The time that a machine is invisible after its launch, ms. Well below `VISIBLE_WITHIN_MS`. */
  readonly visibleAfterMs: Range
  /** The delay of a slow start, ms. */
  readonly slowMs: Range
  /** The time from the launch to the loss of a machine, ms. Spread evenly on a logarithmic scale. */
  readonly lostAfterMs: Range
  /** The time for which a volume cannot be saved, ms. */
  readonly savesAfterMs: Range
  /** Stops that fail before one succeeds. */
  readonly stopTries: Range
  /** Bytes of output that are repeated. */
  readonly repeatedBytes: Range
}

export const faultRanges: FaultRanges = {
  visibleAfterMs: [1_000, 20_000],
  slowMs: [60_000, 900_000],
  lostAfterMs: [5_000, 7_200_000],
  savesAfterMs: [5_000, 120_000],
  stopTries: [1, 3],
  repeatedBytes: [1, 4_096]
}

export type LostState = MachineState & { readonly _tag: "Lost" }

/** The faults of one machine, and those of them that took effect. Times: Unix ms of the world's clock. */
export interface FaultPlan {
  readonly key: string
  /** When the launch was accepted; undefined: not yet. */
  launchedAt: number | undefined
  /** True: the machine exists in the world, whatever a second launch of it returns. */
  isAccepted: boolean
  /** True: the launch was refused, for good. */
  isRefused: boolean
  /** The launch that is delayed until `startsAt`. */
  delayedLaunch: LaunchSpec | undefined
  startsAt: number
  visibleAt: number
  /** The machine breaks at the first observation from this time on. */
  breaksAt: number
  /** True: the machine broke. The machine behind it is stopped, and then it is lost. */
  isBroken: boolean
  isTerminated: boolean
  lostState: LostState | undefined
  readonly hasHiddenExit: boolean
  isExitFaultMarked: boolean
  hasVolume: boolean
  /** Undefined: no stop was accepted. */
  stopRequestedAt: number | undefined
  failingStopsLeft: number | undefined
  /** The machine is not gone before this time, since its volume is not saved. */
  savedAt: number
  /** Drawn times, ms: the delay of the start, the time without visibility, the time until it breaks. */
  readonly drawn: { readonly slowMs: number; readonly invisibleMs: number; readonly lostAfterMs: number }
}

export type Listing = ReadonlyArray<{ readonly key: string; readonly state: MachineState }>

export class FaultyWorld {
  readonly plans = new Map<string, FaultPlan>()
  /** The machines whose launch is delayed. */
  readonly delayed = new Set<FaultPlan>()
  /** The last true listing. */
  lastListing: Listing = []

  /** Returns the faults of a machine whose launch is requested. They are drawn the first time. */
  planOf(key: string, faultDraw: FaultDraw, ranges: FaultRanges): FaultPlan {
    const known = this.plans.get(key)
    if (known !== undefined) return known
    const plan: FaultPlan = {
      key,
      launchedAt: undefined,
      isAccepted: false,
      isRefused: false,
      delayedLaunch: undefined,
      startsAt: Number.NEGATIVE_INFINITY,
      visibleAt: Number.NEGATIVE_INFINITY,
      breaksAt: Number.POSITIVE_INFINITY,
      isBroken: false,
      isTerminated: false,
      lostState: undefined,
      hasHiddenExit: faultDraw.plan("exit_unreported", key),
      isExitFaultMarked: false,
      hasVolume: false,
      stopRequestedAt: undefined,
      failingStopsLeft: undefined,
      savedAt: Number.NEGATIVE_INFINITY,
      drawn: {
        slowMs: slowMs(key, faultDraw, ranges),
        invisibleMs: faultDraw.plan("visible_late", key)
          ? faultDraw.drawBetween("visible-after", key, ranges.visibleAfterMs)
          : 0,
        lostAfterMs: faultDraw.plan("machine_lost", key)
          ? spread(faultDraw.draw("lost-after", key), ranges.lostAfterMs)
          : Number.POSITIVE_INFINITY
      }
    }
    return remember(this.plans, key, plan)
  }

  delayLaunch(plan: FaultPlan, launch: LaunchSpec, startsAt: number): void {
    plan.delayedLaunch = launch
    plan.startsAt = startsAt
    this.delayed.add(plan)
  }

  clearDelay(plan: FaultPlan): void {
    plan.delayedLaunch = undefined
    this.delayed.delete(plan)
  }
}

const slowMs = (key: string, faultDraw: FaultDraw, ranges: FaultRanges): number => {
  if (faultDraw.plan("start_endless", key)) return Number.POSITIVE_INFINITY
  return faultDraw.plan("start_slow", key) ? faultDraw.drawBetween("slow", key, ranges.slowMs) : 0
}

/** Spreads evenly on a logarithmic scale: early losses are as frequent as late ones. */
const spread = (drawn: number, [low, high]: Range): number => Math.round(low * (high / low) ** drawn)
