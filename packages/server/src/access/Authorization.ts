/**
 * Authorizes requests of the infrastructure surface: they need a valid key (401), an environment of its workspace
 * (404), the endpoint's scope (403) and, where they submit a job, a budget that is not spent (402).
 */
import { Authorized, NeedsScope, WithinBudget } from "@sluice/api/access/InfraAccess"
import type { InfraFailure } from "@sluice/api/infra/InfraFailure"
import { wireErrorOf } from "@sluice/api/infra/WireError"
import { Access } from "@sluice/domain/access/Access"
import { EnvironmentAmbiguous, ScopeMissing } from "@sluice/domain/access/AccessErrors"
import { CurrentPrincipal, type Principal } from "@sluice/domain/access/Principal"
import { CurrentAttempt } from "@sluice/domain/idempotency/Attempt"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Context, Effect, Layer } from "effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import { bearerOf } from "../http/Bearer.ts"
import { BudgetGate } from "../billing/BudgetGate.ts"
import { infraError } from "../http/EdgeErrors.ts"
import { RequestId } from "../http/RequestId.ts"

const refusal = (failure: InfraFailure) =>
  Effect.withFiberSucceed((fiber) => infraError(wireErrorOf(failure), Context.get(fiber.context, RequestId)))

export const authorized = Layer.effect(
  Authorized,
  Effect.gen(function* () {
    const access = yield* Access
    return (httpEffect, { endpoint }) => {
      const scope = Context.getUnsafe(endpoint.annotations, NeedsScope)
      return Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const source = NodeHttpServerRequest.toIncomingMessage(request)
        const query = Context.getUnsafe(fiber.context, HttpServerRequest.ParsedSearchParams).environment
        const header = source.headers["x-environment"]
        const inQuery = typeof query === "string" ? query : undefined
        const inHeader = typeof header === "string" ? header : undefined
        const isTwice = inQuery !== undefined && inHeader !== undefined && inQuery !== inHeader
        const authenticate = (environment: string | undefined) => access.authenticate(bearerOf(source), environment)
        const proceed = (principal: Principal) => Effect.provideService(httpEffect, CurrentPrincipal, principal)
        return Effect.matchEffect(authenticate(isTwice ? undefined : (inQuery ?? inHeader)), {
          onFailure: refusal,
          onSuccess: (principal) =>
            !principal.scopes.includes(scope)
              ? refusal(new ScopeMissing({ scope }))
              : isTwice
                ? Effect.matchEffect(requireSame(authenticate(inQuery), authenticate(inHeader)), {
                    onFailure: refusal,
                    onSuccess: proceed
                  })
                : proceed(principal)
        })
      })
    }
  })
)

type Authentication = ReturnType<Access["Service"]["authenticate"]>

/**
 * An environment has a name and an id, so two different texts may name the same one. An unknown environment equals no
 * other.
 */
const requireSame = (query: Authentication, header: Authentication) =>
  Effect.flatMap(Effect.all([query, header]), ([inQuery, inHeader]) =>
    inQuery.environmentId === inHeader.environmentId ? Effect.succeed(inQuery) : Effect.fail(new EnvironmentAmbiguous())
  ).pipe(Effect.catchTag("EnvironmentNotFound", () => Effect.fail(new EnvironmentAmbiguous())))

export const withinBudget = Layer.effect(
  WithinBudget,
  Effect.gen(function* () {
    const gate = yield* BudgetGate
    return (httpEffect) =>
      Effect.withFiber((fiber) =>
        // A retry may find that its first attempt spent the budget. It replays that attempt's result; the admission
        // itself checks the budget where there is none.
        Context.get(fiber.context, CurrentAttempt)?.isRetry === true
          ? httpEffect
          : Effect.matchEffect(gate.pass(Context.getUnsafe(fiber.context, CurrentPrincipal)), {
              onFailure: refusal,
              onSuccess: () => httpEffect
            })
      )
  })
)
