/**
 * Defines every failure of a command and its exit code. A message says what happened, why, and what to do. A refusal
 * keeps the code, the details and the request id of the service.
 *
 * Exit codes: 1 failed, 2 wrong usage (also requests that the service calls invalid), 75 try again later, 77 missing or
 * wrong key, 124 timed out, 130 detached or cancelled. A job that `jobs run` follows to its end gives its own exit
 * code.
 */
import * as Schema from "effect/Schema"

export const EXIT = { failed: 1, usage: 2, tryAgain: 75, key: 77, timedOut: 124, detached: 130 } as const

/** The command line, the configuration or the request is wrong. */
export class UsageWrong extends Schema.TaggedError<UsageWrong>()("UsageWrong", {
  issues: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return this.issues.join("\n")
  }
}

export class KeyMissing extends Schema.TaggedError<KeyMissing>()("KeyMissing", {}) {
  override get message(): string {
    return (
      "No API key is set. The server prints one at its first start; its operator creates more with " +
      "`sluice admin key create --workspace NAME`. Then: export SLUICE_API_KEY=svc_live_..."
    )
  }
}

/**
 * The value of SLUICE_API_KEY is not a valid key. The message does not show it, because most of it may be a real key.
 */
export class KeyMalformed extends Schema.TaggedError<KeyMalformed>()("KeyMalformed", {}) {
  override get message(): string {
    return "SLUICE_API_KEY holds a space, a line break or another character that is not valid in a key. Copy the key again: export SLUICE_API_KEY=svc_live_..."
  }
}

/** The service refused the request. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  status: Schema.Int,
  code: Schema.String,
  text: Schema.String,
  details: Schema.Record(Schema.String, Schema.Unknown),
  requestId: Schema.NullOr(Schema.String)
}) {
  override get message(): string {
    return this.text
  }
}

/** The service did not answer, or its answer stopped before its end. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  url: Schema.String,
  reason: Schema.String,
  advice: Schema.String
}) {
  override get message(): string {
    return `${this.url} can't be reached: ${this.reason}. ${this.advice}`
  }
}

/** The answer does not decode: the server is not Sluice, or has another version. */
export class AnswerStrange extends Schema.TaggedError<AnswerStrange>()("AnswerStrange", {
  url: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.url} gave an answer that sluice cannot read (${this.reason}). Is it a Sluice server of this version?`
  }
}

/** The server did not start or has stopped, or an operator's command was refused; `reason` says what to do. */
export class Stopped extends Schema.TaggedError<Stopped>()("Stopped", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

/** The command has printed everything already and ends with this code. */
export class Ended extends Schema.TaggedError<Ended>()("Ended", { code: Schema.Int }) {}

export type Failure = UsageWrong | KeyMissing | KeyMalformed | Refused | Unreachable | AnswerStrange | Stopped | Ended

const kinds = [UsageWrong, KeyMissing, KeyMalformed, Refused, Unreachable, AnswerStrange, Stopped, Ended]

export const isFailure = (error: unknown): error is Failure => kinds.some((kind) => error instanceof kind)

export const exitCodeOf = (failure: Failure): number => {
  switch (failure._tag) {
    case "UsageWrong":
      return EXIT.usage
    case "KeyMissing":
    case "KeyMalformed":
      return EXIT.key
    case "Unreachable":
      return EXIT.tryAgain
    case "Refused":
      return refusedCode(failure)
    case "Ended":
      return failure.code
    default:
      return EXIT.failed
  }
}

/** True if a retry of the same call can succeed. */
export const isTransient = (failure: Failure): boolean => exitCodeOf(failure) === EXIT.tryAgain

const refusedCode = ({ status, code }: Refused): number => {
  if (status === 401 || status === 403) return EXIT.key
  if (status === 400 || status === 413 || status === 422) return EXIT.usage
  if ([408, 429, 502, 503, 504].includes(status) || code === "idempotency_in_progress") return EXIT.tryAgain
  return EXIT.failed
}
