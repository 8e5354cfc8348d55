/**
 * What happens in a run from outside: users, and processes that die. A list, made from the scenario's seed before the run
 * begins, so that a run can be repeated without some of it.
 *
 * `at` is in milliseconds from the start of the run. `id` is unique in the plan and stable: chance is keyed by it.
 */
import { text, whole } from "@sluice/domain/files/FileFields"
import { Schema } from "effect"

const id = text(/^[a-z0-9-]{1,63}$/, "1 to 63 lowercase letters, digits and -")
const DAY_MS = 86_400_000
const ms = whole(0, 366 * DAY_MS)
/** More than the service takes of anything, so that a plan may ask for too much. */
const amount = whole(0, 1_000_000)
const item = { id, at: ms }
const usd = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

/** A job that works for `runMs` and then exits with `exitCode`, writing `outputBytes` evenly over its life. */
export const Submit = Schema.TaggedStruct("Submit", {
  ...item,
  workspace: id,
  gpuType: Schema.String,
  gpuCount: amount,
  runMs: ms,
  /** Past the 10 MB that are kept of an output. */
  outputBytes: whole(0, 20_000_000),
  exitCode: whole(0, 255),
  maxRuntimeMinutes: amount,
  maxCostUsd: Schema.NullOr(usd),
  /** The name of a volume of the workspace, made when it is first used. */
  volume: Schema.NullOr(id),
  /** A variable that holds a secret; the secret must be nowhere in the history. */
  secret: Schema.Boolean,
  /** After how long the user cancels, or stops the job's instance. */
  cancelAfterMs: Schema.NullOr(ms),
  cancelBy: Schema.Literals(["job", "instance"]),
  /** After how long somebody follows its log; null or left out, as in plans that were written before this came: nobody does. */
  followAfterMs: Schema.optionalKey(Schema.NullOr(ms))
})
export type Submit = typeof Submit.Type

/** Deletes the volume of this name, unless a machine has it; who wants it next makes another. */
export const DeleteVolume = Schema.TaggedStruct("DeleteVolume", { ...item, workspace: id, volume: id })
export type DeleteVolume = typeof DeleteVolume.Type

export const Chat = Schema.TaggedStruct("Chat", {
  ...item,
  workspace: id,
  promptWords: amount,
  maxTokens: amount,
  streamed: Schema.Boolean,
  /** After how long the user hangs up; null: reads to the end. */
  hangUpAfterMs: Schema.NullOr(ms),
  // Plans that were written before these came have none of them.
  /** Asked as POST /responses asks. */
  asResponse: Schema.optionalKey(Schema.Boolean),
  /** Offers tools, and answers the calls. */
  tools: Schema.optionalKey(Schema.Boolean),
  /** Asked once more, streamed where the first was not. */
  twin: Schema.optionalKey(Schema.Boolean),
  /** So many more ask the like right after it. */
  crowd: Schema.optionalKey(whole(0, 1_000))
})
export type Chat = typeof Chat.Type

/** What comes whole or not at all: vectors of `count` texts, `count` pictures, speech of the words, the words of a sound. */
export const Ask = Schema.TaggedStruct("Ask", {
  ...item,
  workspace: id,
  kind: Schema.Literals(["embeddings", "images", "speech", "transcriptions"]),
  words: amount,
  count: amount,
  hangUpAfterMs: Schema.NullOr(ms)
})
export type Ask = typeof Ask.Type

/** A video that is ordered, looked at until it has ended, downloaded, deleted. */
export const Film = Schema.TaggedStruct("Film", {
  ...item,
  workspace: id,
  seconds: amount,
  /** Null: the user never looks again. */
  lookEveryMs: Schema.NullOr(whole(10, 366 * DAY_MS)),
  downloads: whole(0, 1_000),
  /** `early`: while it is being made, which is refused. */
  deletes: Schema.Literals(["never", "early", "ended"])
})
export type Film = typeof Film.Type

export const PlanItem = Schema.Union([
  Submit,
  Chat,
  Ask,
  Film,
  Schema.TaggedStruct("Credit", { ...item, workspace: id, usd }),
  Schema.TaggedStruct("Budget", { ...item, workspace: id, usd: Schema.NullOr(usd) }),
  DeleteVolume,
  Schema.TaggedStruct("RotateKey", { ...item, workspace: id }),
  /** The process is gone between two of its steps (the `afterSteps`-th from `at`) and comes back `downMs` later. */
  Schema.TaggedStruct("Kill", { ...item, afterSteps: amount, downMs: ms }),
  /** A second replica comes and goes: in good order, or killed. */
  Schema.TaggedStruct("Replica", { ...item, forMs: ms, killed: Schema.Boolean }),
  Schema.TaggedStruct("ClockJump", { ...item, byMs: whole(-DAY_MS, DAY_MS) })
])
export type PlanItem = typeof PlanItem.Type

/** Who is there from the start. */
export const Tenant = Schema.Struct({ name: id, creditUsd: usd, monthlyBudgetUsd: Schema.NullOr(usd) })
export type Tenant = typeof Tenant.Type

const Plans = Schema.Struct({ tenants: Schema.Array(Tenant), items: Schema.Array(PlanItem) })

const repeated = (list: string, key: string, names: ReadonlyArray<string>): ReadonlyArray<Schema.FilterIssue> => {
  const first = new Map<string, number>()
  return names.flatMap((name, at) => {
    const before = first.get(name)
    if (before === undefined) first.set(name, at)
    return before === undefined ? [] : [{ path: [list, at, key], issue: `is that of ${list}.${before} too` }]
  })
}

/** Chance is keyed by names, and somebody must be there to ask. */
const consistent = Schema.makeFilter(({ items, tenants }: typeof Plans.Type) => {
  const names = new Set(tenants.map(({ name }) => name))
  return [
    ...repeated(
      "tenants",
      "name",
      tenants.map(({ name }) => name)
    ),
    ...repeated(
      "items",
      "id",
      items.map(({ id }) => id)
    ),
    ...items.flatMap((item, at) =>
      !("workspace" in item) || names.has(item.workspace)
        ? []
        : [{ path: ["items", at, "workspace"], issue: `${item.workspace} is none of the tenants` }]
    )
  ]
})

/** Items happen by `at`, in whatever order they are listed. */
export const Plan = Plans.check(consistent)
export type Plan = typeof Plan.Type
