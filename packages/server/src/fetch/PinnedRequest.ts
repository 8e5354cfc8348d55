/**
 * One GET request to addresses that were checked before. The name is not resolved again; it is only used for the `Host`
 * header and for TLS verification. The request carries no cookies, no credentials and no proxy of the environment.
 * Redirects are returned and not followed, bodies are counted as they arrive, and an interrupt closes the connection.
 */
import { Effect } from "effect"
import * as http from "node:http"
import * as https from "node:https"
import { isIPv6, type LookupFunction } from "node:net"
import { FetchFailed, type FetchReason } from "./FetchFailed.ts"
import type { Target } from "./TargetUrl.ts"

/** The requirements for a response. */
export interface FetchRequirements {
  /** The `Accept` header. */
  readonly accept: string
  /** True for a media type (lower case, without parameters) that is accepted. */
  readonly accepts: (mediaType: string) => boolean
  /** The remaining bytes for bodies, shared by all fetches of one request. */
  readonly allowance: Allowance
}

export interface Allowance {
  /** Remaining bytes. */
  readonly left: number
  /** Takes `bytes` and returns true, or returns false where fewer are left. */
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
/** Informational responses (103 Early Hints) before the response; no limit of bytes counts them. */
const MAX_HINTS = 4
/** Addresses of one name that are tried. */
const MAX_ADDRESSES = 4

/** `onResponse` is called when a response begins. Any failure before that is `unreachable`. */
export const pinnedGet = (
  target: Target,
  addresses: ReadonlyArray<string>,
  wanted: FetchRequirements,
  onResponse: () => void
): Effect.Effect<Fetched | Redirected, FetchFailed> =>
  Effect.callback((resume) => {
    const request = (target.isSecure ? https : http).request({
      agent: false,
      host: target.host,
      port: target.port,
      path: target.path,
      lookup: lookupIn(addresses),
      rejectUnauthorized: true,
      insecureHTTPParser: false,
      headers: { accept: wanted.accept, "accept-encoding": "identity", "user-agent": "sluice" }
    })
    const end = (result: Effect.Effect<Fetched | Redirected, FetchFailed>) => {
      request.destroy()
      resume(result)
    }
    const fail = (reason: FetchReason) => end(Effect.fail(new FetchFailed({ reason })))
    // After the response began, only the response decides the outcome: a request may close before the last bytes are
    // read.
    let isStarted = false
    const failUnanswered = () => isStarted || fail("unreachable")
    request.on("error", failUnanswered)
    request.on("close", failUnanswered)
    let hints = 0
    request.on("information", () => ++hints > MAX_HINTS && fail("broken"))
    request.on("response", (response) => {
      isStarted = true
      onResponse()
      response.on("error", () => fail("broken"))
      response.on("close", () => fail("broken"))
      const head = checkHead(response, wanted)
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

/** Checks the head of a response. */
const checkHead = ({ headers, statusCode }: http.IncomingMessage, { accepts, allowance }: FetchRequirements): Head => {
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

/** A lookup that returns only the given addresses. */
const lookupIn = (addresses: ReadonlyArray<string>): LookupFunction => {
  const all = addresses.slice(0, MAX_ADDRESSES).map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  return (_name, options, callback) =>
    process.nextTick(() => {
      const [first] = all
      if (options.all === true) callback(null, all)
      else callback(null, first?.address ?? "", first?.family)
    })
}
