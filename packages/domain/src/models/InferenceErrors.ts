/**
 * The errors of requests to models. Money's refusals are in `billing/BillingErrors.ts`, failures of a provider are
 * `UpstreamFailed`. Statuses and bodies are defined by the contract in the api package.
 */
import { Schema } from "effect"
import type { BudgetReached, CreditInsufficient } from "../billing/BillingErrors.ts"
import { UpstreamFailed } from "./UpstreamFailed.ts"

/**
 * The request is invalid. `param` is the path of the invalid field (`messages.0.role`); null stands for the whole body.
 */
export class ModelRequestInvalid extends Schema.TaggedError<ModelRequestInvalid>()("ModelRequestInvalid", {
  message: Schema.String,
  param: Schema.NullOr(Schema.String),
  code: Schema.NullOr(Schema.String)
}) {}

/** The message names no length, because only the model's server knows it: it may be less than the catalog's. */
export const TOO_LONG =
  "This model's maximum context length is smaller than this request together with its longest answer; shorten the request"

/**
 * For `mapError`: turns the refusal of a model's server that found the request too long into an error of field `param`,
 * as our own check would return it.
 */
export const toContextLengthError =
  (param: string) =>
  <E>(error: E): E | ModelRequestInvalid =>
    error instanceof UpstreamFailed && error.reason === "too_long"
      ? new ModelRequestInvalid({ message: TOO_LONG, param, code: "context_length_exceeded" })
      : error

export class ModelNotFound extends Schema.TaggedError<ModelNotFound>()("ModelNotFound", { model: Schema.String }) {}

/** The errors of every request that is answered synchronously. */
export type ModelRequestError =
  | ModelRequestInvalid
  | ModelNotFound
  | BudgetReached
  | CreditInsufficient
  | UpstreamFailed

/** A file is larger than this endpoint accepts. */
export class FileTooLarge extends Schema.TaggedError<FileTooLarge>()("FileTooLarge", {
  param: Schema.String,
  limitBytes: Schema.Int
}) {}

/** The caller read its stream so slowly that the stream was closed. The answer so far is charged. */
export class ClientStalled extends Schema.TaggedError<ClientStalled>()("ClientStalled", {}) {}
