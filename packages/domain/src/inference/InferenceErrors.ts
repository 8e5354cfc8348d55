/**
 * Why a question to a model is not answered. Money's refusals are in `billing/BillingErrors.ts`, a world that fails is
 * `UpstreamFailed` of `ModelProvider.ts`; statuses and bodies are the contract's business.
 */
import { Schema } from "effect"
import type { BudgetReached, CreditInsufficient } from "../billing/BillingErrors.ts"
import type { UpstreamFailed } from "./ModelProvider.ts"

/** The request is invalid. `param` is the path of the bad field (`messages.0.role`), null when it is the body as a whole. */
export class QuestionInvalid extends Schema.TaggedError<QuestionInvalid>()("QuestionInvalid", {
  message: Schema.String,
  param: Schema.NullOr(Schema.String),
  code: Schema.NullOr(Schema.String)
}) {}

export class ModelNotFound extends Schema.TaggedError<ModelNotFound>()("ModelNotFound", { model: Schema.String }) {}

/** Of every question that is answered at once, whatever its kind. */
export type QuestionError = QuestionInvalid | ModelNotFound | BudgetReached | CreditInsufficient | UpstreamFailed

/** A file that is larger than this endpoint takes. */
export class FileTooLarge extends Schema.TaggedError<FileTooLarge>()("FileTooLarge", {
  param: Schema.String,
  limitBytes: Schema.Int
}) {}

/** The caller reads its stream so slowly that it was dropped. What was produced is charged. */
export class ClientStalled extends Schema.TaggedError<ClientStalled>()("ClientStalled", {}) {}
