/**
 * Creates the content of a new installation: workspace and environment `default`, a key, and a starting credit when the
 * machines are simulated (decisions: Running it). Later starts change nothing, and two servers that start at once on
 * one database create one of each.
 */
import { DEFAULT_WORKSPACE, Workspaces } from "@sluice/domain/access/Workspaces"
import { Billing } from "@sluice/domain/billing/Billing"
import { NANO_PER_USD } from "@sluice/domain/billing/Money"
import type { Redacted } from "effect"
import { Context, Effect, Layer } from "effect"

/** 100 USD, credited once. */
const PLAY_MONEY = 100n * NANO_PER_USD

/** The result for the first key. A key from the operator is never printed. */
export type FirstKey =
  | { readonly _tag: "Made"; readonly key: Redacted.Redacted }
  | { readonly _tag: "Given" }
  /** The workspace had keys before, and SLUICE_BOOTSTRAP_KEY is unset or one of them. */
  | { readonly _tag: "Older" }
  /** SLUICE_BOOTSTRAP_KEY is set, but the workspace has other keys already. */
  | { readonly _tag: "Ignored" }

export class FirstStart extends Context.Service<
  FirstStart,
  {
    readonly workspace: string
    readonly key: FirstKey
  }
>()("@sluice/server/FirstStart") {
  static readonly layer = (options: {
    readonly bootstrapKey: Redacted.Redacted | undefined
    readonly hasPlayMoney: boolean
  }) =>
    Layer.effect(
      FirstStart,
      Effect.gen(function* () {
        const workspaces = yield* Workspaces
        const billing = yield* Billing
        const { workspaceId, key, keyIgnored } = yield* workspaces.bootstrap(options.bootstrapKey)
        if (options.hasPlayMoney) yield* billing.credit(workspaceId, PLAY_MONEY, "first start")
        const first: FirstKey = keyIgnored
          ? { _tag: "Ignored" }
          : options.bootstrapKey !== undefined
            ? { _tag: "Given" }
            : key === undefined
              ? { _tag: "Older" }
              : { _tag: "Made", key }
        return FirstStart.of({ workspace: DEFAULT_WORKSPACE, key: first })
      })
    )
}
