/**
 * Bugs of requests to models, of the kinds that were met elsewhere: streams that are counted otherwise, a budget that fills up with
 * what is long through, a film that failed is charged, its money is never given back, and two claims that both think that a film is theirs.
 */
import { quickScenario } from "../../src/scenario/Scenarios.ts"
import { Effect } from "effect"
import type { Bug } from "./Bugs.ts"

const quick = quickScenario(0)
/** Many films and few jobs, money for all of them, and a camera that often fails. */
const FILMS = {
  videosPerHour: 120,
  jobsPerHour: 20,
  shares: { ...quick.shares, poor: 0, withBudget: 0 },
  faults: { ...quick.faults, model_cut: 0.3 }
}

export const REQUEST_BUGS: ReadonlyArray<Bug> = [
  {
    name: "a streamed answer is counted otherwise than a buffered one",
    isQuick: true,
    models: (inner) => ({
      ...inner,
      chat: (model, request, hear) =>
        request.stream
          ? Effect.andThen(
              inner.chat(model, request, hear),
              hear([{ _tag: "Usage", promptTokens: 1, completionTokens: 1 }])
            )
          : inner.chat(model, request, hear)
    }),
    scenario: { chatsPerHour: 200, jobsPerHour: 20, shares: { ...quick.shares, twins: 1, poor: 0 } },
    within: 5
  },
  {
    name: "what the requests of a block of credit were charged stays held",
    isQuick: true,
    statements: [
      ["case when block is null then -hold else -charge end", "case when block is null then -hold else 0 end"]
    ],
    scenario: { chatsPerHour: 100, jobsPerHour: 10, shares: { ...quick.shares, crowds: 0.5, poor: 0, withBudget: 0 } },
    within: 5
  },
  {
    name: "what a request had set aside in its budget stays set aside",
    statements: [
      [
        "reserved = environments.reserved + month_changes.reserved",
        "reserved = environments.reserved + greatest(month_changes.reserved, 0)"
      ]
    ],
    scenario: { chatsPerHour: 100, jobsPerHour: 10 },
    within: 5
  },
  {
    name: "a video that failed is charged all the same",
    isQuick: true,
    statements: [
      ["set state = case when $13::int8 > 0 then 'settled' else 'released' end", "set state = 'settled'"],
      [
        "settled_holds.amount as held, $13::int8 as charge",
        "settled_holds.amount as held, settled_holds.amount as charge"
      ],
      ["where status = 'completed'", "where true"]
    ],
    scenario: FILMS,
    within: 10
  },
  {
    name: "what was held for a video that failed is never given back",
    statements: [["and written_videos.ended_at is not null", "and written_videos.status = 'completed'"]],
    scenario: FILMS,
    within: 10
  },
  {
    name: "a video is claimed while another has it, and committed without a fence",
    statements: [
      [
        "from videos where (ended_at is null or deleted_at is not null) and wake_at <= $3\n    and (lease_until is null or lease_until <= $3)",
        "from videos where (ended_at is null or deleted_at is not null) and wake_at <= $3"
      ],
      [
        "videos.lease_by = $2\n    and videos.fence = $3\n    and videos.ended_at is null",
        "$2::text is not null\n    and $3::int8 is not null"
      ]
    ],
    before: "drop trigger videos_ended on videos",
    after: `create trigger videos_ended before update on videos for each row
      when (old.ended_at is not null and (new.status, new.cost, new.ended_at) is distinct from (old.status, old.cost, old.ended_at))
      execute function ended_video_is_final()`,
    scenario: FILMS,
    within: 10
  }
]
