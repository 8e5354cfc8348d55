/**
 * The people and programs of a plan: they ask the servers as clients do, with an Idempotency-Key where a retry must not do
 * it twice, and ask again when the connection is lost or the answer is a fault. What they were promised is remembered, to
 * be held against what became of it.
 */
import { Access } from "@sluice/domain/access/Access"
import type { KeyInvalid } from "@sluice/domain/access/AccessErrors"
import { ApiKeys } from "@sluice/domain/access/ApiKeys"
import type { Principal } from "@sluice/domain/access/Principal"
import { Billing } from "@sluice/domain/billing/Billing"
import { fromUsd } from "@sluice/domain/billing/Money"
import type { EnvironmentNotFound } from "@sluice/domain/environments/Environment"
import { Environments } from "@sluice/domain/environments/Environments"
import { Jobs } from "@sluice/domain/jobs/Jobs"
import { Effect, Exit, Redacted } from "effect"
import type { PlanItem, Submit } from "../plan/Plan.ts"
import type { ConnectionLost, Services } from "../server/SimulatedServer.ts"
import type { History } from "../driver/History.ts"
import { ask } from "./Asks.ts"
import { chat } from "./Chats.ts"
import { film } from "./Films.ts"
import { following } from "./Followers.ts"
import { Tally } from "./Tally.ts"
import { deletion } from "./Volumes.ts"
import { type Asking, causeText, isLost, type Tenancy } from "./Asking.ts"
import { submission, type Submitted } from "./Submissions.ts"

/** A fault is asked again this often at most; then the user gives up, which breaks an invariant. */
const MAX_ATTEMPTS = 400

export class Users {
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
  private readonly asking: Asking

  constructor(asking: Asking) {
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

  /** The whole life of one item of the plan. */
  play(item: PlanItem): Effect.Effect<void> {
    const life = Effect.suspend(() => this.life(item))
    return this.counted(
      Effect.catchCause(life, (cause) => Effect.sync(() => void this.unanswered.push(`${item.id}: ${String(cause)}`)))
    )
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

  private life(item: PlanItem): Effect.Effect<void, unknown> {
    switch (item._tag) {
      case "Submit":
        return this.submit(item)
      case "Chat":
        return chat(this, item)
      case "Ask":
        return ask(this, item)
      case "Film":
        return film(this, item)
      case "DeleteVolume":
        return deletion(this, item)
      case "Credit":
        return this.credit(item.id, this.tenancies.get(item.workspace)!.workspaceId, item.usd)
      case "Budget":
        return this.budget(item.id, item.workspace, item.usd)
      case "RotateKey":
        return this.rotate(item.id, item.workspace)
      default:
        return Effect.void
    }
  }

  /** Who asks, by the workspace's present key; by the next one where it was switched off while it was looked up. */
  principal(workspace: string): Effect.Effect<Principal, KeyInvalid | EnvironmentNotFound, Access> {
    const { key } = this.tenancies.get(workspace)!
    const found = Effect.flatMap(Access, (access) => access.authenticate(Redacted.value(key), undefined))
    return Effect.catchTag(found, "KeyInvalid", (refused) =>
      this.tenancies.get(workspace)!.key === key ? Effect.fail(refused) : this.principal(workspace)
    )
  }

  private submit(item: Submit) {
    const { history } = this.asking
    return Effect.gen({ self: this }, function* () {
      const answer: Submitted = yield* submission(this, item)
      history.record(`${item.id} ${answer._tag}${answer._tag === "Refused" ? ` ${answer.reason}` : ""}`)
      if (answer._tag === "Refused") {
        this.refused[answer.reason] = (this.refused[answer.reason] ?? 0) + 1
        return
      }
      if (answer._tag === "Unanswered") return
      this.accepted.set(answer.jobId, item)
      const { cancelAfterMs, followAfterMs = null } = item
      const cancelled = Effect.gen({ self: this }, function* () {
        const said = yield* this.persist(`${item.id}/cancel`, this.cancelling(item, answer.jobId))
        history.record(`${item.id} cancel ${said ?? "unanswered"}`)
      })
      yield* Effect.all(
        [
          cancelAfterMs === null ? Effect.void : Effect.delay(cancelled, cancelAfterMs),
          followAfterMs === null ? Effect.void : Effect.delay(following(this, item, answer.jobId), followAfterMs)
        ],
        { concurrency: "unbounded", discard: true }
      )
    })
  }

  private cancelling(item: Submit, jobId: string) {
    return Effect.gen({ self: this }, function* () {
      const principal = yield* this.principal(item.workspace)
      const jobs = yield* Jobs
      if (item.cancelBy === "job") {
        return yield* jobs.cancel(principal, jobId).pipe(
          Effect.as("asked"),
          Effect.catchTag("JobEnded", () => Effect.succeed("too late"))
        )
      }
      const { machineId } = yield* jobs.get(principal, jobId)
      yield* jobs.stopMachine(principal, machineId)
      return "asked"
    })
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

  /** A new key, then the old one is switched off: from then on it must be refused. */
  private rotate(name: string, workspace: string) {
    return Effect.gen({ self: this }, function* () {
      const tenancy = this.tenancies.get(workspace)!
      const old = { key: tenancy.key, keyId: tenancy.keyId }
      const made = yield* this.persist(
        `${name}/create`,
        Effect.flatMap(this.principal(workspace), (principal) =>
          Effect.flatMap(ApiKeys, (keys) =>
            keys.create(principal, { name, scopes: null, environmentId: null, rateLimitRpm: undefined }, undefined)
          )
        )
      )
      if (made !== undefined) this.keys.push(made.key)
      if (made === undefined || tenancy.key !== old.key) return
      tenancy.key = made.key
      tenancy.keyId = made.apiKey.id
      yield* this.persist(
        `${name}/off`,
        Effect.flatMap(this.principal(workspace), (principal) =>
          Effect.flatMap(ApiKeys, (keys) =>
            keys.update(principal, old.keyId, { name: undefined, status: "inactive", rateLimitRpm: undefined })
          )
        )
      )
      this.asking.history.record(`${name} rotated`)
    })
  }
}
