/**
 * One GET of one target at addresses that were checked before: the name is not asked again, it only stands in the `Host` header
 * and in what TLS verifies. Nothing of ours goes with it: no cookie, no credential, no proxy of the environment. Redirects are
 * handed back, bodies are counted as they come, and whoever stops waiting hangs up.
 */
import { Effect } from "effect"
import * as http from "node:http"
import * as https from "node:https"
import { isIPv6, type LookupFunction } from "node:net"
import { FetchFailed, type FetchReason } from "./FetchFailed.ts"
import type { Target } from "./TargetUrl.ts"

/** What is wanted of a target. */
export interface Wanted {
  /** The `Accept` header. */
  readonly accept: string
  /** Whether a media type (lower case, without parameters) is wanted. */
  readonly accepts: (mediaType: string) => boolean
  /** What bodies may still have; shared by those who are fetched for one request. */
  readonly allowance: Allowance
}

export interface Allowance {
  /** Bytes. */
  readonly left: number
  /** Takes as many; false: there are not as many left. */
  readonly take: (bytes: number) => boolean
}

export interface Fetched {
  readonly _tag: "Fetched"
  readonly mediaType: string
  readonly bytes: Buffer
}

export interface Redirected {
  readonly _tag: "Redirected"
  readonly location: string
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** Answers before the answer (103 Early Hints), which no limit of bytes counts. */
const MAX_HINTS = 4
/** Addresses of one name that are tried. */
const MAX_ADDRESSES = 4

/** `answering` is called when an answer has begun. It fails with `unreachable` before that, whatever the reason. */
export const pinnedGet = (
  target: Target,
  addresses: ReadonlyArray<string>,
  wanted: Wanted,
  answering: () => void
): Effect.Effect<Fetched | Redirected, FetchFailed> =>
  Effect.callback((resume) => {
    const request = (target.secure ? https : http).request({
      agent: false,
      host: target.host,
      port: target.port,
      path: target.path,
      lookup: pinnedTo(addresses),
      rejectUnauthorized: true,
      insecureHTTPParser: false,
      headers: { accept: wanted.accept, "accept-encoding": "identity", "user-agent": "sluice" }
    })
    const end = (result: Effect.Effect<Fetched | Redirected, FetchFailed>) => {
      request.destroy()
      resume(result)
    }
    const fail = (reason: FetchReason) => end(Effect.fail(new FetchFailed({ reason })))
    // Once there is an answer, it alone says how it ended: a request may be closed before the last bytes are read.
    let begun = false
    const unanswered = () => begun || fail("unreachable")
    request.on("error", unanswered)
    request.on("close", unanswered)
    let hints = 0
    request.on("information", () => ++hints > MAX_HINTS && fail("broken"))
    request.on("response", (response) => {
      begun = true
      answering()
      response.on("error", () => fail("broken"))
      response.on("close", () => fail("broken"))
      const head = judged(response, wanted)
      if (head._tag === "Refused") return fail(head.reason)
      if (head._tag === "Redirected") return end(Effect.succeed(head))
      const parts: Array<Buffer> = []
      response.on("data", (part: Buffer) => {
        if (wanted.allowance.take(part.length)) parts.push(part)
        else fail("too_large")
      })
      response.on("end", () =>
        end(Effect.succeed({ _tag: "Fetched", mediaType: head.mediaType, bytes: Buffer.concat(parts) }))
      )
    })
    request.end()
    return Effect.sync(() => request.destroy())
  })

type Head =
  | Redirected
  | { readonly _tag: "Refused"; readonly reason: FetchReason }
  | Pick<Fetched, "_tag" | "mediaType">

/** What the head of an answer says of the rest. */
const judged = ({ headers, statusCode }: http.IncomingMessage, { accepts, allowance }: Wanted): Head => {
  const refused = (reason: FetchReason): Head => ({ _tag: "Refused", reason })
  if (REDIRECTS.has(statusCode ?? 0)) {
    return headers.location === undefined ? refused("redirect") : { _tag: "Redirected", location: headers.location }
  }
  if (statusCode !== 200) return refused("status")
  const mediaType = (headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase()
  if (!accepts(mediaType)) return refused("type")
  if ((headers["content-encoding"] ?? "identity").toLowerCase() !== "identity") return refused("encoding")
  if (Number(headers["content-length"] ?? 0) > allowance.left) return refused("too_large")
  return { _tag: "Fetched", mediaType }
}

/** A resolver that knows one answer. */
const pinnedTo = (addresses: ReadonlyArray<string>): LookupFunction => {
  const all = addresses.slice(0, MAX_ADDRESSES).map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  return (_name, options, callback) =>
    process.nextTick(() => {
      const [first] = all
      if (options.all === true) callback(null, all)
      else callback(null, first?.address ?? "", first?.family)
    })
}
