/**
 * Fetches what callers point at, without being led anywhere inside: the one HTTP client for addresses that are not the
 * operator's own. Each hop is checked from scratch: its URL, then every address that its name has, and the connection goes to one of
 * those and nowhere else. Bounded in time, bytes, hops and number.
 */
import { Context, Effect, Layer, Result } from "effect"
import { isIP } from "node:net"
import { inWallTime } from "../clock/WallTime.ts"
import { FetchFailed, type FetchReason } from "./FetchFailed.ts"
import { machineNames, type NameLookup, publicNames } from "./NameLookup.ts"
import { type Fetched, pinnedGet, type Wanted } from "./PinnedRequest.ts"
import { isPublic } from "./PublicAddress.ts"
import { redirectOf, type Target, targetOf } from "./TargetUrl.ts"
import { type SemaphoreLimits, FairSemaphore } from "./FairSemaphore.ts"

/** Hops after the first. */
const MAX_REDIRECTS = 3
/** Real milliseconds from the first question to the last byte. */
const LIMIT_MS = 10_000
const TURNS: SemaphoreLimits = { total: 32, each: 8, waitMs: 10_000 }

export interface SafeFetchOptions {
  /** Addresses that are not public are fine too; everything else holds. */
  readonly privateTargets: boolean
  /** Instead of that: which addresses are fine. */
  readonly allows?: (address: string) => boolean
  readonly names?: NameLookup
  readonly limitMs?: number
  readonly turns?: SemaphoreLimits
}

export class SafeFetch extends Context.Service<
  SafeFetch,
  {
    /** `owner`: for whom; each has a share of what is under way. */
    readonly get: (owner: string, url: string, wanted: Wanted) => Effect.Effect<Fetched, FetchFailed>
  }
>()("@sluice/server/fetch/SafeFetch") {
  static readonly layer = ({
    privateTargets,
    allows = privateTargets ? () => true : isPublic,
    limitMs = LIMIT_MS,
    names = privateTargets ? machineNames : publicNames(),
    turns = TURNS
  }: SafeFetchOptions) =>
    Layer.sync(SafeFetch, () => {
      const queue = new FairSemaphore(turns)
      const addressesOf = ({ host }: Target) => (isIP(host) === 0 ? names(host) : Effect.succeed([host]))

      const follow = (
        target: Target,
        wanted: Wanted,
        phase: Phase,
        hopsLeft: number
      ): Effect.Effect<Fetched, FetchFailed> =>
        Effect.flatMap(addressesOf(target), (addresses) => {
          if (addresses.length === 0 || !addresses.every(allows)) return failed("unreachable")
          const hop = pinnedGet(target, addresses, wanted, () => {
            phase.answering = true
          })
          return Effect.flatMap(hop, (end) => {
            if (end._tag === "Fetched") return Effect.succeed(end)
            const next = hopsLeft === 0 ? undefined : redirectOf(target, end.location)
            if (next === undefined || Result.isFailure(next)) return failed("redirect")
            phase.answering = false
            return follow(next.success, wanted, phase, hopsLeft - 1)
          })
        })

      return {
        get: (owner, url, wanted) => {
          const target = targetOf(url)
          if (Result.isFailure(target)) return failed(target.failure)
          const phase: Phase = { answering: false }
          const limited = Effect.timeoutOrElse(follow(target.success, wanted, phase, MAX_REDIRECTS), {
            duration: limitMs,
            orElse: () => failed(phase.answering ? "timeout" : "unreachable")
          })
          return queue.run(owner, limited).pipe(
            Effect.catchTag("NoTurn", () => failed("busy")),
            inWallTime
          )
        }
      }
    })
}

/** Whether the server of this hop has begun to answer: a silent one is told apart from none at all by nobody. */
interface Phase {
  answering: boolean
}

const failed = (reason: FetchReason) => Effect.fail(new FetchFailed({ reason }))
