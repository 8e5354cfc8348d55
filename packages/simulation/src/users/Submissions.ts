/** One submission of a job as a careful client makes it: one Idempotency-Key, asked again until it is answered. */
import { KEY_PREFIX } from "@sluice/domain/access/ApiKey"
import { type FirstAnswer, Idempotency } from "@sluice/domain/idempotency/Idempotency"
import { CurrentAttempt } from "@sluice/domain/idempotency/Attempt"
import { Jobs } from "@sluice/domain/jobs/Jobs"
import { Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { hash32 } from "@sluice/machine-shell/Chance"
import type { Submit } from "../plan/Plan.ts"
import { commandOf, workOf } from "../world/Work.ts"
import type { UserContext } from "./UserContext.ts"
import { volumeOf } from "./Volumes.ts"

export type Submitted =
  | { readonly _tag: "Accepted"; readonly jobId: string }
  | { readonly _tag: "Refused"; readonly reason: string }
  | { readonly _tag: "Unanswered" }

const Answered = Schema.fromJsonString(
  Schema.Union([
    Schema.TaggedStruct("Accepted", { jobId: Schema.String }),
    Schema.TaggedStruct("Refused", { reason: Schema.String })
  ])
)

/** What a secret variable holds: it must be found nowhere. */
export const secretOf = (item: Submit): string =>
  `canary-${hash32(7, item.id).toString(16)}${hash32(11, item.id).toString(16)}`

/** What such values and the keys of users look like. */
export const SECRETIVE = new RegExp(`canary-[0-9a-f]+|${KEY_PREFIX}[0-9A-Za-z]+`, "g")

export const submission = (users: UserContext, item: Submit): Effect.Effect<Submitted, unknown> =>
  Effect.gen(function* () {
    const volumeId = item.volume === null ? undefined : yield* volumeOf(users, item.workspace, item.volume)
    const body = bodyOf(item, volumeId)
    const text = yield* users.persist(
      item.id,
      Effect.gen(function* () {
        const principal = yield* users.principal(item.workspace)
        const idempotency = yield* Idempotency
        const jobs = yield* Jobs
        const request = {
          workspaceId: principal.workspaceId,
          key: item.id,
          requestHash: createHash("sha256").update(JSON.stringify(body)).digest("hex")
        }
        const answer = yield* idempotency
          .once(
            request,
            Effect.flatMap(CurrentAttempt, (attempt) => answered(sure(jobs.submit(principal, body, attempt))))
          )
          // Another attempt is on its way still: as a client, wait and ask again.
          .pipe(Effect.catchTag("IdempotencyInProgress", () => Effect.die("in progress")))
        return answer.text
      })
    )
    return text === undefined ? { _tag: "Unanswered" } : yield* Schema.decodeEffect(Answered)(text)
  })

/** Of what may be there or not, nothing is known yet: ask again. */
const sure = <A, E extends { readonly _tag: string }>(submit: Effect.Effect<A, E>) =>
  Effect.catchIf(submit, (failure) => failure._tag === "JobOutcomeUnknown", Effect.die)

/** What the idempotency record keeps: as the surface does, all that decided something for good. */
const answered = <E extends { readonly _tag: string }>(submit: Effect.Effect<{ readonly id: string }, E>) =>
  Effect.match(submit, {
    onSuccess: ({ id }): FirstAnswer => ({ text: JSON.stringify({ _tag: "Accepted", jobId: id }), outcome: "kept" }),
    onFailure: (failure): FirstAnswer => {
      const jobId = "jobId" in failure && typeof failure.jobId === "string" ? failure.jobId : undefined
      return jobId === undefined
        ? {
            text: JSON.stringify({ _tag: "Refused", reason: failure._tag }),
            outcome:
              failure._tag === "RequestInvalid" ? "none" : failure._tag === "MachinesUnavailable" ? "unknown" : "kept"
          }
        : { text: JSON.stringify({ _tag: "Accepted", jobId }), outcome: "kept" }
    }
  })

const bodyOf = (item: Submit, volumeId: string | undefined) => ({
  command: commandOf(workOf(item)),
  name: item.id,
  gpu_type: item.gpuType,
  gpu_count: item.gpuCount,
  max_runtime_minutes: item.maxRuntimeMinutes,
  ...(item.maxCostUsd === null ? {} : { max_cost_usd: item.maxCostUsd }),
  ...(volumeId === undefined ? {} : { storage_id: volumeId }),
  ...(item.secret ? { env: { TOKEN: secretOf(item) } } : {})
})
