/**
 * The environments of a workspace and their monthly budgets. A changed budget wakes the budget reconciler. This module
 * does not enforce budgets: the statements that spend money do.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { Principal } from "../access/Principal.ts"
import type { NanoUsd } from "../billing/Money.ts"
import { monthOf } from "../billing/Month.ts"
import type { Page, PageRequest } from "../database/Page.ts"
import type { Environment } from "./Environment.ts"
import { EnvironmentNotFound } from "./Environment.ts"
import { EnvironmentStore } from "./EnvironmentStore.ts"

export class Environments extends Context.Service<
  Environments,
  {
    readonly list: (principal: Principal, page: PageRequest) => Effect.Effect<Page<Environment>>
    readonly get: (principal: Principal, id: string) => Effect.Effect<Environment, EnvironmentNotFound>
    /** Null removes the budget. */
    readonly setBudget: (
      principal: Principal,
      id: string,
      budget: NanoUsd | null
    ) => Effect.Effect<Environment, EnvironmentNotFound>
  }
>()("@sluice/domain/environments/Environments") {
  static readonly layerNoDeps = Layer.effect(
    Environments,
    Effect.gen(function* () {
      const store = yield* EnvironmentStore
      const environmentOrFail = (id: string) => (row: Environment | undefined) =>
        row === undefined ? Effect.fail(new EnvironmentNotFound({ environment: id })) : Effect.succeed(row)

      return Environments.of({
        list: Effect.fn("Environments.list")(function* (principal, page) {
          const now = yield* Clock.currentTimeMillis
          return yield* store.list(principal.workspaceId, page, monthOf(now))
        }),
        get: Effect.fn("Environments.get")(function* (principal, id) {
          const now = yield* Clock.currentTimeMillis
          return yield* Effect.flatMap(store.get(principal.workspaceId, id, monthOf(now)), environmentOrFail(id))
        }),
        setBudget: Effect.fn("Environments.setBudget")(function* (principal, id, budget) {
          const now = yield* Clock.currentTimeMillis
          const row = yield* store.setBudget(principal.workspaceId, id, budget, new Date(now), monthOf(now))
          return yield* environmentOrFail(id)(row)
        })
      })
    })
  )

  static readonly layer = Environments.layerNoDeps.pipe(Layer.provide(EnvironmentStore.layer))
}
