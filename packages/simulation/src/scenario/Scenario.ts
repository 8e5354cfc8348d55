/**
 * A scenario: everything that a run depends on. The same scenario gives the same history on any machine.
 *
 * As JSON every field may be left out; what is given must be right, and a wrong one is refused with all that is wrong in it.
 */
import { number, whole } from "@sluice/domain/files/FileFields"
import { Schema } from "effect"
import { CALL_FAULTS, DATABASE_FAULTS, PLANNED_FAULTS } from "@sluice/simulator/faults/Fault"
import { Plan } from "../plan/Plan.ts"

const share = number(0, 1)
const about = (text: string) => ({ description: text })
/** From, to. */
const range = (least: number, most: number, text: string) =>
  Schema.Tuple([number(least, most), number(least, most)])
    .annotate(about(text))
    .check(
      Schema.makeFilter(([from, to]: readonly [number, number]) => from <= to, {
        expected: "two numbers, the smaller one first"
      })
    )

const Shares = Schema.Struct({
  cancelled: share.annotate(about("Jobs that are cancelled, or whose instance is stopped.")),
  followed: share.annotate(about("Jobs whose log somebody follows.")),
  withVolume: share,
  withSecret: share,
  withCeiling: share.annotate(about("Jobs with max_cost_usd.")),
  withBudget: share.annotate(about("Workspaces with a monthly budget that is too small.")),
  poor: share.annotate(about("Workspaces whose credit runs out.")),
  hangUps: share.annotate(about("Requests to models whose caller goes away in the middle.")),
  withTools: share.annotate(about("Chats that offer tools.")),
  responses: share.annotate(about("Chats that are asked as responses.")),
  twins: share.annotate(about("Chats that are asked twice, streamed and not.")),
  crowds: share.annotate(about("Chats that many ask at once.")),
  forgotten: share.annotate(about("Videos that nobody looks at after the order."))
})

const Faults = Schema.Struct({
  ...(Object.fromEntries(CALL_FAULTS.map((fault) => [fault, share])) as Record<
    (typeof CALL_FAULTS)[number],
    typeof share
  >),
  ...(Object.fromEntries(PLANNED_FAULTS.map((fault) => [fault, number(0, 60)])) as Record<
    (typeof PLANNED_FAULTS)[number],
    ReturnType<typeof number>
  >)
})

/** Where more statements fail, work that takes several is not done in the time that the invariants allow. */
const MAX_DATABASE_FAULTS = 0.1
const DATABASE_RULE = `${DATABASE_FAULTS.join(", ")} together must be ${MAX_DATABASE_FAULTS} at most`
const databaseWorks = Schema.makeFilter((rates: typeof Faults.Type) =>
  // Sums of decimal fractions are not exact.
  DATABASE_FAULTS.reduce((sum, fault) => sum + rates[fault], 0) <= MAX_DATABASE_FAULTS + 1e-9
    ? undefined
    : `${DATABASE_RULE}: nothing is done in its time where more statements fail`
)

export const MAX_HOURS = 24 * 366

export const Scenario = Schema.Struct({
  seed: whole(0, Number.MAX_SAFE_INTEGER),
  hours: number(0.01, MAX_HOURS).annotate(
    about("Virtual time during which users come; the run goes on until all that they began has ended.")
  ),
  gpus: whole(8, 100_000).annotate(about("GPUs in the world, spread over its types and regions.")),
  workspaces: whole(1, 1_000),
  jobsPerHour: number(0, 100_000),
  chatsPerHour: number(0, 1_000_000),
  embeddingsPerHour: number(0, 1_000_000),
  imagesPerHour: number(0, 1_000_000),
  speechPerHour: number(0, 1_000_000),
  transcriptionsPerHour: number(0, 1_000_000),
  videosPerHour: number(0, 100_000),
  jobMinutes: range(0.01, 1_440, "How long jobs work: from, to, evenly on a logarithmic scale."),
  shares: Shares,
  databaseMs: range(
    0,
    10_000,
    "How long a statement of the database takes: from, to (ms). Zero hides races; latency shows them."
  ),
  pollSeconds: number(0.1, 600).annotate(
    about(
      "How often the service looks for work that it was not woken for. What it gives itself and its providers (limits of answers, holds of requests and videos, sweeps) is so many times as long as where it looks every second."
    )
  ),
  lookSeconds: number(0, 86_400).annotate(
    about(
      "All invariants are looked at when so much virtual time has passed and something was written; 0: after every change. Each change of a row is guarded anyway."
    )
  ),
  faults: Faults.annotate(
    about(
      `By name: the chance that a call is struck; of server_killed, replica_joins and clock_jumps how many come in an hour. Where clocks jump, that of a replica that joins differs by up to two minutes. ${DATABASE_RULE}.`
    )
  ).check(databaseWorks),
  flat: Schema.Boolean.annotate(about("All chance outside the plan is constant: no noise. Set by shrinking.")),
  plan: Schema.NullOr(Plan).annotate(about("Instead of one made from the seed. Set by shrinking."))
})
export type Scenario = typeof Scenario.Type

/** As people write it: it may name its JSON Schema. */
export const ScenarioFile = Schema.Struct({ $schema: Schema.optionalKey(Schema.String), ...Scenario.fields })
