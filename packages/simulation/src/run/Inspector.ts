/** Holds the run against its invariants: whenever something was written, and at its end. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import type { History } from "../driver/History.ts"
import { VIDEO_LIMIT_MS } from "@sluice/domain/videos/VideoLifecycle"
import { VIDEO_CALL_TIMEOUT_MS } from "@sluice/domain/videos/VideoReconciler"
import { CALL_TIMEOUT_MS } from "@sluice/domain/machines/TimedMachines"
import type { Fault } from "@sluice/simulator/faults/Fault"
import type { LogFloods } from "@sluice/simulator/faults/LogFloods"
import { INVARIANTS, titleOf } from "../invariants/Invariants.ts"
import { type Broken, makeInvariants } from "../invariants/InvariantChecker.ts"
import type { JobBar } from "../report/Outcome.ts"
import type { Scenario } from "../scenario/Scenario.ts"
import { secretOf } from "../users/Submissions.ts"
import type { Users } from "../users/Users.ts"
import { outputOf, workOf } from "../world/Work.ts"
import type { Fleet } from "./Fleet.ts"
import { HOUR } from "./Times.ts"

export interface Inspected {
  readonly outside: PgClient.PgClient
  readonly users: Users
  readonly fleet: Fleet
  readonly history: History
  readonly floods: LogFloods
  readonly scenario: Scenario
  readonly now: () => number
  /** Whether this fault met this subject. */
  readonly struck: (fault: Fault, subject: string) => boolean
}

/** A stop is heard, the machine is gone and the job ended in this time, when nothing goes wrong. */
const STOP_MS = 60_000
/** A machine saves its volume late, its provider does not answer, statements are slow. */
const TROUBLE_MS = 300_000
/** After this, times the scale of the service, a sweep that is made every minute is late. */
const LATE_SWEEP_MS = 61_000

export class Inspector {
  checks = 0
  private readonly given: Inspected
  private readonly invariants: ReturnType<typeof makeInvariants>
  private lastChanges = -1
  private lookedUntil = 0
  private ended: ReadonlyMap<string, JobBar> = new Map()

  constructor(given: Inspected) {
    this.given = given
    this.invariants = makeInvariants(given.outside)
  }

  get names(): ReadonlyArray<string> {
    return INVARIANTS.map(titleOf)
  }

  /** Nothing is checked where nothing was written since the last time. */
  async check(changes: () => number): Promise<Broken | undefined> {
    if (changes() === this.lastChanges) return undefined
    this.checks++
    const look = this.look()
    const broken = await Effect.runPromise(this.invariants.check({ ...look, since: this.lookedUntil }))
    this.lookedUntil = look.now - look.stopMs - HOUR
    // The look itself is no change.
    this.lastChanges = changes()
    return broken[0]
  }

  async atEnd(done: boolean, jobs: ReadonlyArray<JobBar>): Promise<Broken | undefined> {
    this.ended = new Map(jobs.map((job) => [job.id, job]))
    const { fleet, history, now, users } = this.given
    const accepted = [...users.accepted.keys()]
    const secrets = [
      ...[...users.accepted.values()].filter((item) => item.secret).map(secretOf),
      ...users.keys.map(Redacted.value)
    ]
    const whole = await Effect.runPromise(this.invariants.check(this.look()))
    if (whole[0] !== undefined) return whole[0]
    const broken = await Effect.runPromise(
      this.invariants.checkEnd({
        now: now(),
        accepted,
        expected: (jobId) => this.written(jobId),
        secrets,
        ...this.told(),
        unanswered: done
          ? users.unanswered
          : [...users.unanswered, `the run did not come to its end, after ${fleet.downs.length} downtimes`],
        texts: [{ name: "the history", text: [...history.suspects].join("\n") }]
      })
    )
    // What was never answered, the last of these, tells more than what follows from it.
    return users.unanswered.length > 0 ? broken.at(-1) : broken[0]
  }

  private look() {
    const { fleet, now, scenario } = this.given
    const scale = scenario.pollSeconds
    const faulty = Object.values(scenario.faults).some((rate) => rate > 0)
    const trouble = faulty ? TROUBLE_MS + CALL_TIMEOUT_MS * scale : 0
    const late = fleet.downMs + fleet.jumpedMs + trouble + 2_000 * scale
    const filmMs = (VIDEO_LIMIT_MS + 2 * VIDEO_CALL_TIMEOUT_MS) * scale + STOP_MS + late
    return { now: now(), sweepMs: LATE_SWEEP_MS * scale + late, stopMs: STOP_MS + late, filmMs }
  }

  /** What callers were told of their requests to models. */
  private told() {
    const { tally } = this.given.users
    return {
      videos: [...tally.videos].filter(([, video]) => !video.deleted).map(([id]) => id),
      answered: [...tally.costs].map(([id, cost]) => ({ id, cost })),
      failed: tally.free,
      misled: tally.misled,
      // Of a model that talks nonsense once nobody knows what it says the next time.
      twins: tally.twins.filter(({ id }) => !this.given.struck("model_malformed", id))
    }
  }

  /** All that the job's command wrote; only of one that ended by itself that is certain. */
  private written(jobId: string): Uint8Array | undefined {
    const item = this.given.users.accepted.get(jobId)
    const job = item === undefined ? undefined : this.ended.get(item.id)
    if (item === undefined || job === undefined || job.reason !== null) return undefined
    const flood = this.given.floods.floodOf(item.id)
    return Buffer.concat([flood, Buffer.from(outputOf(workOf(item)))])
  }
}
