/**
 * Bugs of the kinds that took down systems like this one, each put in by hand: in a statement on its way to the database,
 * or in a provider. The sources have none of them.
 */
import type { ModelProviderService } from "@sluice/domain/models/ModelProvider"
import type { MachineProviderService, Observation } from "@sluice/domain/machines/MachineProvider"
import type { Scenario } from "../../src/scenario/Scenario.ts"
import type { Replacement } from "../../src/database/Rewrite.ts"
import { Clock, Effect, Redacted } from "effect"

export interface Bug {
  readonly name: string
  readonly statements?: ReadonlyArray<Replacement>
  readonly machines?: (inner: MachineProviderService) => MachineProviderService
  readonly models?: (inner: ModelProviderService) => ModelProviderService
  /** What else would catch it is taken away before, and put back afterwards. */
  readonly before?: string
  readonly after?: string
  /** What of the quick scenario is otherwise. */
  readonly scenario?: Partial<Scenario>
  /** Found in so many runs at most. */
  readonly within: number
  /** The quick suite plants it too: the simulation finds it within a second. */
  readonly isQuick?: true
}

export const BUGS: ReadonlyArray<Bug> = [
  {
    name: "money is checked, then deducted: nobody looks at the balance in the statement that holds",
    statements: [
      [
        "and sum_after > lag(sum_after, 1, 0::int8) over (partition by workspace_id order by ord) as is_admitted",
        "as is_admitted"
      ]
    ],
    before: "alter table accounts drop constraint sufficient_funds",
    after: "alter table accounts add constraint sufficient_funds check (balance - held >= 0)",
    within: 10
  },
  {
    name: "a job's commit forgets to give back what was held",
    isQuick: true,
    statements: [["-sum(held)::int8 as held\n  from bills", "0::int8 as held\n  from bills"]],
    within: 5
  },
  {
    name: "a wake-up is lost: a job that waits for its machine sleeps for a month",
    statements: [
      [
        "when jobs.events <> steps.events then $3::timestamptz else steps.wake_at end",
        "else steps.wake_at + interval '30 days' end"
      ]
    ],
    within: 10
  },
  {
    name: "a launch without intent: the row does not say that one was asked for",
    statements: [
      ["case when launch then $2::timestamptz end, $2::timestamptz", "null::timestamptz, $2::timestamptz"],
      ["requested_at = steps.requested_at", "requested_at = null"]
    ],
    within: 30
  },
  {
    name: "a stop that was asked for is taken for a machine that is gone",
    isQuick: true,
    machines: (inner) => {
      const asked = new Set<string>()
      const gone = (now: number): Observation => ({
        state: { _tag: "Stopped", since: null, stoppedAt: now, command: { _tag: "Pending" }, volumeBytes: null },
        at: now,
        nextAt: Infinity,
        nextOutputAt: Infinity
      })
      return {
        ...inner,
        // The provider is told later, if ever.
        stop: (key) => Effect.sync(() => void asked.add(key)),
        observe: (key) => (asked.has(key) ? Effect.map(Clock.currentTimeMillis, gone) : inner.observe(key))
      }
    },
    within: 5
  },
  {
    name: "a volume stays with a machine that is gone",
    statements: [
      [
        "where volumes.attached_to = steps.id\n    and steps.status in ('stopped', 'failed')",
        "where volumes.attached_to = steps.id\n    and false"
      ]
    ],
    within: 10
  },
  {
    name: "what a job cost is not counted against the month's budget",
    statements: [["spent_in(environments, $4::date) + month_changes.charged", "spent_in(environments, $4::date)"]],
    within: 5
  },
  {
    name: "an answer is charged and leaves no usage behind",
    isQuick: true,
    statements: [
      [
        "from settled_requests\n  where tokens_in is not null",
        "from settled_requests\n  where tokens_in is null and false"
      ]
    ],
    within: 10
  },
  {
    name: "only one side of a bill reaches the books",
    isQuick: true,
    statements: [
      [
        "charged + written_off, null::int8\n    from bills_with_balance\n    where charged + written_off > 0",
        "charged, null::int8\n    from bills_with_balance\n    where false"
      ]
    ],
    within: 5
  },
  {
    name: "a limit that was reached stops nothing",
    statements: [
      [
        "where machines.id = committed_steps.machine_id\n    and committed_steps.stop_machine",
        "where machines.id = committed_steps.machine_id\n    and false"
      ]
    ],
    within: 10
  },
  {
    name: "the machine's time is billed until somebody looked, not until it stopped",
    statements: [
      [
        "stopped_at = steps.stopped_at",
        "stopped_at = case when steps.stopped_at is not null then $3::timestamptz + interval '1 second' end"
      ]
    ],
    within: 10
  },
  {
    name: "a submission that failed forgets what it had begun: asked again, it makes a second job",
    statements: [
      ["update idempotency_keys set locked_until = '1970-01-01Z' where", "delete from idempotency_keys where"]
    ],
    within: 30
  },
  {
    name: "a volume that was saved once is never saved again",
    statements: [["do update set version = excluded.version", "do nothing"]],
    within: 30
  },
  {
    name: "a volume is deleted and its provider is never told",
    statements: [
      [
        "insert into volume_deletions (id, deleted_at, wake_at) select id, $4, $4 from gone",
        "insert into volume_deletions (id, deleted_at, wake_at) select id, $4, $4 from gone where false"
      ]
    ],
    within: 30
  },
  {
    name: "a volume's deletion is forgotten before the provider has done it",
    machines: (inner) => ({ ...inner, deleteVolume: () => Effect.void }),
    within: 30
  },
  {
    name: "the value of a variable is logged once, long before the end",
    machines: (inner) => {
      let told = false
      return {
        ...inner,
        launch: (spec) => {
          const secret = told ? undefined : spec.env.get("TOKEN")
          if (secret === undefined) return inner.launch(spec)
          told = true
          return Effect.andThen(Effect.logWarning(`launching with ${Redacted.value(secret)}`), inner.launch(spec))
        }
      }
    },
    scenario: { hours: 0.5 },
    within: 3
  }
]
