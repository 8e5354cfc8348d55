/**
 * The HTTP client for URLs that callers give; it can't be led to a private address. Each hop is checked in full: its
 * URL, then every address of its name, and the connection uses one of the checked addresses. Fetches are bounded in
 * time, bytes, redirects and number.
 */
import { Context, Effect, Layer, Result } from "effect"
import { isIP } from "node:net"
import { inWallTime } from "../clock/WallTime.ts"
import { FetchFailed, type FetchReason } from "./FetchFailed.ts"
import { machineNames, type NameLookup, publicNames } from "./NameLookup.ts"
import { type Fetched, pinnedGet, type FetchRequirements } from "./PinnedRequest.ts"
import { isPublic } from "./PublicAddress.ts"
import { redirectOf, type Target, targetOf } from "./TargetUrl.ts"
import { type SemaphoreLimits, FairSemaphore } from "./FairSemaphore.ts"

/** Redirects after the first request. */
const MAX_REDIRECTS = 3
/** Real milliseconds from the first DNS query to the last byte. */
const LIMIT_MS = 10_000
const SEMAPHORE_LIMITS: SemaphoreLimits = { total: 32, each: 8, waitMs: 10_000 }

export interface SafeFetchOptions {
  /** Accepts private addresses too. All other rules still hold. */
  readonly hasPrivateTargets: boolean
  /** Replaces `hasPrivateTargets`: returns true for an accepted address. */
  readonly allows?: (address: string) => boolean
  readonly names?: NameLookup
  readonly limitMs?: number
  readonly limits?: SemaphoreLimits
}

export class SafeFetch extends Context.Service<
  SafeFetch,
  {
    /** `owner`: the workspace that the fetch counts against; each owner has its own limit. */
    readonly get: (owner: string, url: string, wanted: FetchRequirements) => Effect.Effect<Fetched, FetchFailed>
  }
>()("@sluice/server/fetch/SafeFetch") {
  static readonly layer = ({
    hasPrivateTargets,
    allows = hasPrivateTargets ? () => true : isPublic,
    limitMs = LIMIT_MS,
    names = hasPrivateTargets ? machineNames : publicNames(),
    limits = SEMAPHORE_LIMITS
  }: SafeFetchOptions) =>
    Layer.sync(SafeFetch, () => {
      const semaphore = new FairSemaphore(limits)
      const addressesOf = ({ host }: Target) => (isIP(host) === 0 ? names(host) : Effect.succeed([host]))

      const follow = (
        target: Target,
        wanted: FetchRequirements,
        phase: Phase,
        hopsLeft: number
      ): Effect.Effect<Fetched, FetchFailed> =>
        Effect.flatMap(addressesOf(target), (addresses) => {
          if (addresses.length === 0 || !addresses.every(allows)) return fail("unreachable")
          const hop = pinnedGet(target, addresses, wanted, () => {
            phase.isAnswering = true
          })
          return Effect.flatMap(hop, (end) => {
            if (end._tag === "Fetched") return Effect.succeed(end)
            const next = hopsLeft === 0 ? undefined : redirectOf(target, end.location)
            if (next === undefined || Result.isFailure(next)) return fail("redirect")
            phase.isAnswering = false
            return follow(next.success, wanted, phase, hopsLeft - 1)
          })
        })

      return {
        get: (owner, url, wanted) => {
          const target = targetOf(url)
          if (Result.isFailure(target)) return fail(target.failure)
          const phase: Phase = { isAnswering: false }
          const limited = Effect.timeoutOrElse(follow(target.success, wanted, phase, MAX_REDIRECTS), {
            duration: limitMs,
            orElse: () => fail(phase.isAnswering ? "timeout" : "unreachable")
          })
          return semaphore.run(owner, limited).pipe(
            Effect.catchTag("Busy", () => fail("busy")),
            inWallTime
          )
        }
      }
    })
}

/** True once the server of the current hop has begun to answer. A silent server gets the same reason as no server. */
interface Phase {
  isAnswering: boolean
}

const fail = (reason: FetchReason) => Effect.fail(new FetchFailed({ reason }))
