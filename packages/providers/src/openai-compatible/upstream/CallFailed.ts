/**
 * How one request to one upstream fails, what that says of the upstream, whether another may be asked instead, and what the
 * caller is told: the port's reason and nothing of the upstream.
 */
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { Schema } from "effect"
import { retryAfterMs, type Verdict } from "./Breaker.ts"

export class CallFailed extends Schema.TaggedError<CallFailed>()("CallFailed", {
  /**
   * `unreachable`: it was not asked. `lost`: the connection broke before an answer began. `timeout`: it was silent for too
   * long. `status`: it answered with an error. `too_long`: with one that says that the request has too many tokens. `cut`: its
   * answer broke off. `malformed`: its answer makes no sense, or says that it failed. `unserved`: a sound answer, and not what
   * was asked for, as one image where two were, or a film that is not kept any more.
   */
  fault: Schema.Literals(["unreachable", "lost", "timeout", "status", "too_long", "cut", "malformed", "unserved"]),
  status: Schema.Int,
  retryAfterMs: Schema.UndefinedOr(Schema.Finite)
}) {}

export type Fault = CallFailed["fault"]

export const callFailed = (fault: Exclude<Fault, "status">): CallFailed =>
  new CallFailed({ fault, status: 0, retryAfterMs: undefined })

export const statusFailed = (status: number, retryAfter: string | undefined, nowMs: number): CallFailed =>
  new CallFailed({ fault: "status", status, retryAfterMs: retryAfterMs(retryAfter, nowMs) })

/** The request is one that this model does not take, wherever it is sent. */
const REFUSALS = new Set([400, 413, 415, 422])
const BUSY = new Set([429])
/** Of the others below 500 these are no matter of the request: a wrong key, no credit, a wrong name, too slow. */
const OPERATORS = new Set([401, 402, 404, 408])

const isRefusal = ({ fault, status }: CallFailed): boolean =>
  fault === "too_long" || (fault === "status" && REFUSALS.has(status))

/** An answer below 500 that is neither the operator's matter nor the moment's. A 403 may be moderation. */
const isOfRequest = ({ fault, status }: CallFailed): boolean =>
  fault === "status" && status >= 400 && status < 500 && !BUSY.has(status) && !OPERATORS.has(status)

/** What of it the breaker counts. `crashes`: whether the request is of those that make sound servers answer 500. */
export const verdictOf = (failed: CallFailed, crashes: boolean): Verdict => {
  const { fault, retryAfterMs, status } = failed
  if (fault === "unserved" || isRefusal(failed)) return { _tag: "Answered" }
  if (fault === "status" && BUSY.has(status)) return { _tag: "Busy", retryAfterMs }
  const crashed = crashes && fault === "status" && status === 500 && retryAfterMs === undefined
  // Who asks for what is not taken must not take the model from the others.
  return isOfRequest(failed) || crashed ? { _tag: "Nothing" } : { _tag: "Failed", retryAfterMs }
}

/** Whether another upstream could do better. */
export const worthAnother = (failed: CallFailed): boolean => !isRefusal(failed)

/** Whether the upstream has surely done nothing of what was asked. */
export const hasDoneNothing = ({ fault, status }: CallFailed): boolean =>
  fault === "unreachable" ||
  fault === "too_long" ||
  (fault === "status" && (status === 429 || (status >= 400 && status < 500)))

/** What the caller is told. */
export const toldOf = ({ fault, status }: CallFailed): UpstreamFailed => {
  if (fault === "timeout" || (fault === "status" && (status === 408 || status === 504))) return TIMEOUT
  if (fault === "too_long") return TOO_LONG
  if (fault === "unserved") return UNSERVED
  if (fault !== "status") return BROKEN
  if (status === 413) return TOO_LARGE
  if (REFUSALS.has(status)) return REFUSED
  if (OPERATORS.has(status)) return DENIED
  if (status === 403) return FORBIDDEN
  return status === 429 || status === 503 ? OVERLOADED : BROKEN
}

/**
 * What the caller is told in the end: that it is of no use only where each of the `able` upstreams said so, because another
 * one may answer the same request later.
 */
export const toldOfAll = (failed: ReadonlyArray<CallFailed>, able: number): UpstreamFailed => {
  const told = failed.map(toldOf)
  const last = told.at(-1) ?? OVERLOADED
  return isFinal(last) && !(told.length >= able && told.every(isFinal)) ? BROKEN : last
}

const isFinal = ({ reason }: UpstreamFailed): boolean => reason === "denied" || reason === "forbidden"

const REFUSED = new UpstreamFailed({ reason: "refused" })
const TOO_LONG = new UpstreamFailed({ reason: "too_long" })
const TOO_LARGE = new UpstreamFailed({ reason: "too_large" })
const UNSERVED = new UpstreamFailed({ reason: "unserved" })
const DENIED = new UpstreamFailed({ reason: "denied" })
const FORBIDDEN = new UpstreamFailed({ reason: "forbidden" })
const BROKEN = new UpstreamFailed({ reason: "broken" })
const TIMEOUT = new UpstreamFailed({ reason: "timeout" })
/** Also where no upstream may be asked at present. */
export const OVERLOADED = new UpstreamFailed({ reason: "overloaded" })
