/**
 * Plays the items of a plan: each item is a user of the service who sends requests as clients do, with an Idempotency-Key
 * where a retry must not act twice.
 */
import { ApiKeys } from "@sluice/domain/access/ApiKeys"
import { Jobs } from "@sluice/domain/jobs/Jobs"
import { Effect } from "effect"
import type { PlanItem, Submit } from "../plan/Plan.ts"
import { ask } from "./UnaryRequests.ts"
import { chat } from "./Chats.ts"
import { film } from "./Films.ts"
import { following } from "./Followers.ts"
import { deletion } from "./Volumes.ts"
import { submission, type Submitted } from "./Submissions.ts"

import { UserContext } from "./UserContext.ts"

export class Users extends UserContext {
  /** The whole life of one item of the plan. */
  play(item: PlanItem): Effect.Effect<void> {
    const life = Effect.suspend(() => this.life(item))
    return this.counted(
      Effect.catchCause(life, (cause) => Effect.sync(() => void this.unanswered.push(`${item.id}: ${String(cause)}`)))
    )
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
