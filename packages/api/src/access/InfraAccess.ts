/**
 * What stands before every endpoint of the infrastructure surface, as the contract sees it: the bearer key with its scopes
 * and environment, the budget gate of jobs, one mechanism for `Idempotency-Key`, and bad input as 422. Outermost first.
 */
import type { CurrentPrincipal, Scope } from "@sluice/domain/access/Principal"
import * as Context from "effect/Context"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { Conflict, Forbidden, NotFound, PaymentRequired, Unauthorized, Unprocessable } from "../infra/InfraErrors.ts"

/** The scope that an endpoint needs: an annotation that every endpoint carries. */
export class NeedsScope extends Context.Service<NeedsScope, Scope>()("@sluice/api/access/NeedsScope") {}

/** Whether an endpoint's answer holds a secret: only the caller that asked for it may have it again. */
export const ReturnsSecret = Context.Reference<boolean>("@sluice/api/access/TellsSecret", { defaultValue: () => false })

/** 401 without a valid key, 403 without the scope, 404 or 422 for the environment. */
export class Authorized extends HttpApiMiddleware.Service<Authorized, { provides: CurrentPrincipal }>()(
  "@sluice/api/access/Authorized",
  { error: [Unauthorized, Forbidden, NotFound, Unprocessable] }
) {}

/** The same request once; applies to POST alone. */
export class Idempotent extends HttpApiMiddleware.Service<Idempotent, { requires: CurrentPrincipal }>()(
  "@sluice/api/access/Idempotent",
  { error: [Conflict, Unprocessable] }
) {}

/** 402 when the environment's budget is spent, before anything of the body is looked at. */
export class WithinBudget extends HttpApiMiddleware.Service<WithinBudget, { requires: CurrentPrincipal }>()(
  "@sluice/api/access/WithinBudget",
  { error: PaymentRequired }
) {}

/** Query, path or body that is not as the contract says: 422 with all issues at once. */
export class WellFormed extends HttpApiMiddleware.Service<WellFormed>()("@sluice/api/access/WellFormed", {
  error: Unprocessable
}) {}
