/**
 * What the faults have done to the machines of the world: which is not there yet, which is gone, which keeps its exit to
 * itself. One object for a run; the decorators of all servers share it, and it outlives them as the world does.
 *
 * A machine's fate is drawn when its launch is first asked for, so it depends on the machine's name alone. A lost machine
 * stays lost, until a hundred thousand came after it.
 */
import type { LaunchSpec, MachineState } from "@sluice/domain/machines/MachineProvider"
import { remembered, type FaultDraw } from "./FaultDraw.ts"

/** From, to. */
export type Range = readonly [number, number]

export interface FaultRanges {
  /** How long a machine is invisible after its launch, ms. Well below `VISIBLE_WITHIN_MS`. */
  readonly visibleAfterMs: Range
  /** How long a slow machine is kept from starting, ms. */
  readonly slowMs: Range
  /** How long after it was launched a machine is lost, ms; spread evenly on a logarithmic scale. */
  readonly lostAfterMs: Range
  /** How long the first tries at saving a volume fail, ms. */
  readonly savesAfterMs: Range
  /** How many stops fail before one is heard. */
  readonly stopTries: Range
  /** Bytes that are given a second time. */
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

/** What becomes of one machine. Times: Unix ms of the world's clock. */
export interface FaultPlan {
  readonly key: string
  /** When the world took its launch; undefined: it has not. */
  takenAt: number | undefined
  /** It exists in the world, whatever a second launch of it is told. */
  accepted: boolean
  /** It was refused, and stays so. */
  refused: boolean
  /** The launch that the world still keeps back, until `startsAt`. */
  keptBack: LaunchSpec | undefined
  startsAt: number
  visibleAt: number
  /** It breaks when someone looks at it from this moment on. */
  losesAt: number
  /** It broke: the machine behind it is to be stopped, and then it is lost. */
  broken: boolean
  buried: boolean
  lost: LostState | undefined
  readonly hidesExit: boolean
  exitHidden: boolean
  hasVolume: boolean
  /** Undefined: no stop was heard. */
  stopAskedAt: number | undefined
  stopsThatFail: number | undefined
  /** It is not gone before, because its volume is not saved. */
  savedAt: number
  /** Ms: kept from starting, invisible, until it breaks. */
  readonly drawn: { readonly slowMs: number; readonly invisibleMs: number; readonly lostAfterMs: number }
}

export type Listing = ReadonlyArray<{ readonly key: string; readonly state: MachineState }>

export class FaultyWorld {
  readonly fates = new Map<string, FaultPlan>()
  /** Those whose launch is kept back. */
  readonly waiting = new Set<FaultPlan>()
  /** The last listing that was true. */
  listed: Listing = []

  /** The fate of a machine whose launch is asked for, drawn the first time. */
  fateOf(key: string, strikes: FaultDraw, ranges: FaultRanges): FaultPlan {
    const known = this.fates.get(key)
    if (known !== undefined) return known
    const fate: FaultPlan = {
      key,
      takenAt: undefined,
      accepted: false,
      refused: false,
      keptBack: undefined,
      startsAt: Number.NEGATIVE_INFINITY,
      visibleAt: Number.NEGATIVE_INFINITY,
      losesAt: Number.POSITIVE_INFINITY,
      broken: false,
      buried: false,
      lost: undefined,
      hidesExit: strikes.planned("exit_unreported", key),
      exitHidden: false,
      hasVolume: false,
      stopAskedAt: undefined,
      stopsThatFail: undefined,
      savedAt: Number.NEGATIVE_INFINITY,
      drawn: {
        slowMs: slowMs(key, strikes, ranges),
        invisibleMs: strikes.planned("visible_late", key)
          ? strikes.within("visible-after", key, ranges.visibleAfterMs)
          : 0,
        lostAfterMs: strikes.planned("machine_lost", key)
          ? spread(strikes.draw("lost-after", key), ranges.lostAfterMs)
          : Number.POSITIVE_INFINITY
      }
    }
    return remembered(this.fates, key, fate)
  }

  keepBack(fate: FaultPlan, launch: LaunchSpec, startsAt: number): void {
    fate.keptBack = launch
    fate.startsAt = startsAt
    this.waiting.add(fate)
  }

  letGo(fate: FaultPlan): void {
    fate.keptBack = undefined
    this.waiting.delete(fate)
  }
}

const slowMs = (key: string, strikes: FaultDraw, ranges: FaultRanges): number => {
  if (strikes.planned("start_endless", key)) return Number.POSITIVE_INFINITY
  return strikes.planned("start_slow", key) ? strikes.within("slow", key, ranges.slowMs) : 0
}

/** Evenly on a logarithmic scale: early ends are as frequent as late ones. */
const spread = (drawn: number, [low, high]: Range): number => Math.round(low * (high / low) ** drawn)
