/**
 * The reasons why a URL could not be fetched, in words for the caller that gave the URL: how to correct it, or what its
 * server did wrong. They contain no address and no text of another server. Private addresses, names without an address
 * and silent servers have the same reason, so that a caller can't scan the operator's network.
 */
import { Schema } from "effect"
import type { UrlFault } from "./TargetUrl.ts"

export type FetchReason =
  | UrlFault
  | "unreachable"
  | "redirect"
  | "status"
  | "type"
  | "encoding"
  | "too_large"
  | "timeout"
  | "broken"
  | "busy"

const MESSAGES: Readonly<Record<FetchReason, string>> = {
  length: "a URL has at most 8192 characters",
  characters:
    "a URL must not contain spaces, control characters or backslashes; percent-encode characters that are not ASCII",
  scheme: "a link begins with http:// or https://",
  userinfo: "a link must not contain a user or password",
  host: "the host must be a plain name or an IP address in its usual spelling",
  port: "the port must be 80, 443 or above 1023",
  unreachable: "no public server answers at this address",
  redirect: "it redirects more than three times, or to a URL that is not allowed",
  status: "its server answered with a status other than 200",
  type: "its Content-Type is not accepted here",
  encoding: "its server sent a compressed body (Content-Encoding), which is not accepted",
  too_large: "the file is too large",
  timeout: "its server did not send it in time",
  broken: "its server closed the connection early",
  busy: "too many links are being fetched at present; try again shortly"
}

const REASONS = Object.keys(MESSAGES) as Array<FetchReason>

export class FetchFailed extends Schema.TaggedError<FetchFailed>()("FetchFailed", {
  reason: Schema.Literals(REASONS)
}) {
  override get message(): string {
    return MESSAGES[this.reason]
  }
}
