/**
 * The middleware of the infrastructure surface as the contract declares it, outermost first: the bearer key with its
 * scopes and environment, the budget of jobs, `Idempotency-Key`, and the validation of input.
 */
import type { CurrentPrincipal, Scope } from "@sluice/domain/access/Principal"
import * as Context from "effect/Context"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { Conflict, Forbidden, NotFound, PaymentRequired, Unauthorized, Unprocessable } from "../infra/InfraErrors.ts"

/** The scope that an endpoint needs. Every endpoint has this annotation. */
export class NeedsScope extends Context.Service<NeedsScope, Scope>()("@sluice/api/access/NeedsScope") {}

/** True where the endpoint's response contains a secret: only the key that made the first request may replay it. */
export const ReturnsSecret = Context.Reference<boolean>("@sluice/api/access/TellsSecret", { defaultValue: () => false })

/** 401 without a valid key, 403 without the scope, 404 or 422 for the environment. */
export class Authorized extends HttpApiMiddleware.Service<Authorized, { provides: CurrentPrincipal }>()(
  "@sluice/api/access/Authorized",
  { error: [Unauthorized, Forbidden, NotFound, Unprocessable] }
) {}

/** Makes a repeated POST with the same `Idempotency-Key` idempotent. Other methods are unchanged. */
export class Idempotent extends HttpApiMiddleware.Service<Idempotent, { requires: CurrentPrincipal }>()(
  "@sluice/api/access/Idempotent",
  { error: [Conflict, Unprocessable] }
) {}

/** 402 when the environment's budget is spent, before the body is validated. */
export class WithinBudget extends HttpApiMiddleware.Service<WithinBudget, { requires: CurrentPrincipal }>()(
  "@sluice/api/access/WithinBudget",
  { error: PaymentRequired }
) {}

/** Answers 422 with all issues at once where query, path or body violate the contract. */
export class WellFormed extends HttpApiMiddleware.Service<WellFormed>()("@sluice/api/access/WellFormed", {
  error: Unprocessable
}) {}
