/**
 * Why a question to a model is not answered. Money's refusals are in `billing/BillingErrors.ts`, a world that fails is
 * `UpstreamFailed` of `ModelProvider.ts`; statuses and bodies are the contract's business.
 */
import { Schema } from "effect"
import type { BudgetReached, CreditInsufficient } from "../billing/BillingErrors.ts"
import { UpstreamFailed } from "./UpstreamFailed.ts"

/** The request is invalid. `param` is the path of the bad field (`messages.0.role`), null when it is the body as a whole. */
export class ModelRequestInvalid extends Schema.TaggedError<ModelRequestInvalid>()("ModelRequestInvalid", {
  message: Schema.String,
  param: Schema.NullOr(Schema.String),
  code: Schema.NullOr(Schema.String)
}) {}

/** Which length it is, the model's server knows alone: it may be less than the catalog's. */
export const TOO_LONG =
  "This model's maximum context length is less than what this request has, with the answer that it may have; shorten it"

/** For `mapError`: what only the model's server found too long is told of the field that our own check names. */
export const tooLongIn =
  (param: string) =>
  <E>(error: E): E | ModelRequestInvalid =>
    error instanceof UpstreamFailed && error.reason === "too_long"
      ? new ModelRequestInvalid({ message: TOO_LONG, param, code: "context_length_exceeded" })
      : error

export class ModelNotFound extends Schema.TaggedError<ModelNotFound>()("ModelNotFound", { model: Schema.String }) {}

/** Of every question that is answered at once, whatever its kind. */
export type ModelRequestError =
  | ModelRequestInvalid
  | ModelNotFound
  | BudgetReached
  | CreditInsufficient
  | UpstreamFailed

/** A file that is larger than this endpoint takes. */
export class FileTooLarge extends Schema.TaggedError<FileTooLarge>()("FileTooLarge", {
  param: Schema.String,
  limitBytes: Schema.Int
}) {}

/** The caller reads its stream so slowly that it was dropped. What was produced is charged. */
export class ClientStalled extends Schema.TaggedError<ClientStalled>()("ClientStalled", {}) {}
