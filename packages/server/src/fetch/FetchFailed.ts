/**
 * Why something was not fetched, in words that the one who gave its URL may read: how to mend the URL, or what its server did
 * wrong. Never an address, never another server's text; and what is not public, what has no address and what does not answer
 * are one reason, so that nobody learns from us what there is on the inside.
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

const WORDS: Readonly<Record<FetchReason, string>> = {
  length: "a URL has at most 8192 characters",
  characters: "a URL has no spaces, control characters or backslashes; percent-encode what is not ASCII",
  scheme: "a link begins with http:// or https://",
  userinfo: "a link must not hold a user or password",
  host: "the host must be a plain name or an IP address in its usual spelling",
  port: "the port must be 80, 443 or above 1023",
  unreachable: "nothing public answers at this address",
  redirect: "it leads elsewhere more than three times, or to where a link must not lead",
  status: "its server answered with another status than 200",
  type: "its Content-Type is not one that is taken here",
  encoding: "its server compresses it although it was asked not to (Content-Encoding)",
  too_large: "what is there is too large",
  timeout: "it did not come in time",
  broken: "its server broke off",
  busy: "too much is being fetched already; try again shortly"
}

const REASONS = Object.keys(WORDS) as Array<FetchReason>

export class FetchFailed extends Schema.TaggedError<FetchFailed>()("FetchFailed", {
  reason: Schema.Literals(REASONS)
}) {
  override get message(): string {
    return WORDS[this.reason]
  }
}
