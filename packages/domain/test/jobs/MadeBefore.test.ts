/** A retried submission whose first run completes in the middle of the retry. */
import { expect, it } from "@effect/vitest"
import type { Job } from "@sluice/domain/jobs/Job"
import { LaunchFailed } from "@sluice/domain/jobs/JobErrors"
import { submitOrFind } from "@sluice/domain/jobs/IdempotentSubmit"
import { VolumeAttached } from "@sluice/domain/storage/Volume"
import { Effect } from "effect"

const attempt = { id: "a", isRetry: true, key: "k", lockedUntil: new Date(0) }
const job = { id: "a" } as Job

/** `looks`: the result of each look in turn. */
const told = Effect.fnUntraced(function* (
  looks: ReadonlyArray<Job | undefined>,
  run: Effect.Effect<Job, VolumeAttached | LaunchFailed>,
  isRetry = true
) {
  let looked = 0
  const find = () => Effect.sync(() => looks[looked++])
  const end = yield* Effect.match(submitOrFind({ ...attempt, isRetry }, find, run), {
    onSuccess: ({ id }) => id,
    onFailure: ({ _tag }) => _tag
  })
  return [end, looked]
})

it.effect("a retry answers with the job of the first run, also when it appeared while the retry was refused", () =>
  Effect.gen(function* () {
    const attached = Effect.fail(new VolumeAttached({ id: "v" }))
    expect(yield* told([job], Effect.die("not run"))).toEqual(["a", 1])
    expect(yield* told([undefined, job], attached)).toEqual(["a", 2])
    expect(yield* told([undefined, undefined], attached)).toEqual(["VolumeAttached", 2])
    expect(yield* told([undefined], Effect.succeed(job))).toEqual(["a", 1])
    expect(yield* told([undefined, job], Effect.fail(new LaunchFailed({ jobId: "a", reason: "none" })))).toEqual([
      "LaunchFailed",
      1
    ])
    expect(yield* told([job], attached, false)).toEqual(["VolumeAttached", 0])
  })
)
