/**
 * The state that all users of a run share, and how they send requests: with retries when the connection is lost or the answer
 * is a fault. Records every accepted job and every key, so that the invariants can compare them with the database.
 */
import { Access } from "@sluice/domain/access/Access"
import type { KeyInvalid } from "@sluice/domain/access/AccessErrors"
import type { Principal } from "@sluice/domain/access/Principal"
import { Billing } from "@sluice/domain/billing/Billing"
import { fromUsd } from "@sluice/domain/billing/Money"
import type { EnvironmentNotFound } from "@sluice/domain/environments/Environment"
import { Environments } from "@sluice/domain/environments/Environments"
import { Effect, Exit, Redacted } from "effect"
import type { Submit } from "../plan/Plan.ts"
import type { ConnectionLost, Services } from "../server/SimulatedServer.ts"
import type { History } from "../driver/History.ts"
import { Tally } from "./Tally.ts"
import { type UserInputs, causeText, isLost, type Tenancy } from "./UserInputs.ts"

/** A fault is asked again this often at most; then the user gives up, which breaks an invariant. */
const MAX_ATTEMPTS = 400

export class UserContext {
  readonly tenancies = new Map<string, Tenancy>()
  /** Accepted jobs by their id, with the item that asked for them. */
  readonly accepted = new Map<string, Submit>()
  readonly refused: Record<string, number> = {}
  readonly volumes = new Map<string, string>()
  /** All keys there ever were. */
  readonly keys: Array<Redacted.Redacted> = []
  /** What was asked of models. */
  readonly tally = new Tally()
  /** Items whose user never got an answer. */
  readonly unanswered: Array<string> = []
  busy = 0
  protected readonly asking: UserInputs

  constructor(asking: UserInputs) {
    this.asking = asking
  }

  get history(): History {
    return this.asking.history
  }

  /** Asks one server once. Defects are faults of the service, as a 500 is. */
  ask<A, E>(name: string, effect: Effect.Effect<A, E, Services>): Effect.Effect<A, E | ConnectionLost | "Fault"> {
    return Effect.suspend(() => {
      const server = this.asking.server(name)
      if (server === undefined) return Effect.fail("Fault" as const)
      return Effect.exit(server.request(effect)).pipe(
        Effect.flatMap((exit): Effect.Effect<A, E | ConnectionLost | "Fault"> => {
          if (Exit.isSuccess(exit)) return Effect.succeed(exit.value)
          const failure = exit.cause.reasons.find((reason) => reason._tag === "Fail")
          if (failure !== undefined) return Effect.fail(failure.error)
          this.asking.history.note(`${name}: fault: ${causeText(exit.cause)}`)
          return Effect.fail("Fault" as const)
        })
      )
    })
  }

  /** Asks until there is an answer: a success, or a refusal of the service. Undefined: never. */
  persist<A, E>(name: string, effect: Effect.Effect<A, E, Services>): Effect.Effect<A | undefined, E> {
    const attempt = (n: number): Effect.Effect<A | undefined, E> =>
      this.ask(`${name}/${n}`, effect).pipe(
        Effect.catch((failure) => {
          if (failure !== "Fault" && !isLost(failure)) return Effect.fail(failure)
          if (n >= MAX_ATTEMPTS) {
            this.unanswered.push(name)
            return Effect.void as Effect.Effect<undefined>
          }
          const wait = 200 + 1_800 * this.asking.chance.draw(`retry/${name}/${n}`)
          return Effect.andThen(Effect.sleep(wait), attempt(n + 1))
        })
      )
    return Effect.suspend(() => attempt(1))
  }

  /** The run does not end meanwhile. */
  counted<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      this.busy++
      return Effect.ensuring(
        effect,
        Effect.sync(() => void this.busy--)
      )
    })
  }

  /** Who asks, by the workspace's present key; by the next one where it was switched off while it was looked up. */
  principal(workspace: string): Effect.Effect<Principal, KeyInvalid | EnvironmentNotFound, Access> {
    const { key } = this.tenancies.get(workspace)!
    const found = Effect.flatMap(Access, (access) => access.authenticate(Redacted.value(key), undefined))
    return Effect.catchTag(found, "KeyInvalid", (refused) =>
      this.tenancies.get(workspace)!.key === key ? Effect.fail(refused) : this.principal(workspace)
    )
  }

  credit(reference: string, workspaceId: string, usd: number) {
    const amount = fromUsd(usd)
    if (amount <= 0n) return Effect.void
    return Effect.asVoid(
      this.persist(
        `${reference}/credit`,
        Effect.flatMap(Billing, (billing) => billing.credit(workspaceId, amount, reference))
      )
    )
  }

  budget(name: string, workspace: string, usd: number | null) {
    const budget = usd === null ? null : fromUsd(usd)
    const { environmentId } = this.tenancies.get(workspace)!
    return Effect.asVoid(
      this.persist(
        name,
        Effect.flatMap(this.principal(workspace), (principal) =>
          Effect.flatMap(Environments, (environments) => environments.setBudget(principal, environmentId, budget))
        )
      )
    )
  }
}
