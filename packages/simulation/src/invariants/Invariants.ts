/**
 * What must be true of the whole service at every moment of every run, whatever the world does to it: the one list. The
 * report of a run, ARCHITECTURE.md and the checks are made of it.
 *
 * Three ways to look, each where it can see: `guards` at every change of a row, `step` at all rows between two steps, `end`
 * once a run has come to its end. How a thing is found stands in the stores beside this file.
 */
import type { PgClient } from "@effect/sql-pg"
import type { Effect } from "effect"
import { type EndContext, ends } from "./EndChecksStore.ts"
import { eventEnds } from "./EventChecksStore.ts"
import { type Guard, guards } from "./GuardStore.ts"
import type { StepCheck } from "./InvariantStore.ts"
import { requestEnds, requestSteps } from "./RequestChecksStore.ts"
import { steps } from "./StepChecksStore.ts"
import { volumeSteps } from "./VolumeChecksStore.ts"

export interface Invariant {
  readonly number: number
  readonly name: string
  readonly sentence: string
  readonly guards: ReadonlyArray<Guard>
  readonly step: ReadonlyArray<StepCheck>
  readonly end: ((sql: PgClient.PgClient, context: EndContext) => Effect.Effect<ReadonlyArray<string>>) | undefined
}

type Checks = Partial<Pick<Invariant, "guards" | "step" | "end">>
type Listed = readonly [name: string, sentence: string, checks: Checks]

const LIST: ReadonlyArray<Listed> = [
  // Money
  [
    "The books sum to zero",
    "The entries of every transaction, and so of all, sum to zero.",
    { step: steps.transactionsSumToZero }
  ],
  ["A balance is its entries", "The balance of an account is the sum of its entries.", { step: steps.balanceIsSum }],
  ["What is held is its holds", "What is held on an account is the sum of its open holds.", { step: steps.heldIsSum }],
  ["No balance below zero", "No balance is negative or below what is held on it.", { guards: guards.funds }],
  [
    "The books only grow",
    "An entry, a transaction, a usage row never changes and never goes.",
    { guards: guards.booksOnlyGrow }
  ],
  [
    "A hold belongs to something alive",
    "An open hold is that of a job or video that has not ended, or of a request or a block of them younger than its limit; each such job and video has one.",
    { step: steps.holdIsAlive }
  ],
  [
    "A hold is resolved once",
    "A hold is settled or released once, never changes after that, and never goes before.",
    { guards: guards.holdResolvedOnce }
  ],
  [
    "A second is billed once",
    "A job that ended was billed its price from its machine's `running_at` to its `stopped_at`, to the nano-USD; it says what its customer was charged, and the rest is the operator's.",
    { step: steps.billedToTheStop, end: ends.billIsExact }
  ],
  ["One bill a job", "A job has one transaction, once it has ended and not before.", { step: steps.billedOnce }],
  [
    "Usage is what was charged",
    "A usage row's cost is what its request or video was charged, and none of them is charged without one.",
    { step: steps.usageIsCharged }
  ],
  [
    "A month is what was settled",
    "What an environment spent in its month is the sum of what was settled in it, and what is set aside in its budget that of its open holds.",
    { step: steps.monthIsSum }
  ],
  // Jobs
  [
    "A terminal job never changes",
    "Nothing of a job changes after its end, and no job is deleted.",
    { guards: guards.terminalIsFinal }
  ],
  [
    "A job goes forward",
    "A job never goes back to an earlier state; its start, what stopped it and its terms are set once.",
    { guards: guards.jobGoesForward }
  ],
  ["An end has a time", "`ended_at` comes with every terminal state and with no other.", { step: steps.endIsDated }],
  [
    "An exit code is the command's own",
    "A job has an exit code only where its machine saw its command exit with it; it succeeded exactly where that is 0.",
    { step: steps.exitCodeIsItsOwn }
  ],
  ["Terminal means gone", "The machine of a terminal job is stopped or failed.", { step: steps.terminalMeansGone }],
  [
    "A stop keeps its bound",
    "A job stops within a bound of the moment at which its money, budget, ceiling, time or wait ended or its cancel came.",
    { step: steps.stopsInTime }
  ],
  [
    "What is due is done",
    "No job, machine or video is due for longer than that bound: no wake-up is lost.",
    { step: steps.dueIsDone }
  ],
  [
    "Every accepted job ends",
    "Every job that was answered with 201 is there and terminal in the end.",
    { end: ends.acceptedEnds }
  ],
  // Machines
  [
    "A job has one machine",
    "A job holds at most one machine, and it is the one that it names.",
    { step: steps.oneMachine }
  ],
  ["A machine has one job", "A machine belongs to at most one job.", { step: steps.oneJob }],
  [
    "Facts only grow",
    "What is known of a machine is set once, its output only grows, its terms never change.",
    { guards: guards.factsOnlyGrow }
  ],
  [
    "A gone machine never changes",
    "Nothing is learnt of a machine that is stopped or failed.",
    { guards: guards.goneIsFinal }
  ],
  [
    "State fits facts",
    "A machine's state is the one that its times say, and these are in order.",
    { step: steps.stateFitsFacts }
  ],
  [
    "An intent is answered",
    "A machine is not gone while a launch of it has no answer.",
    { step: steps.intentIsAnswered }
  ],
  [
    "The intent comes first",
    "The world has no machine whose launch is not recorded.",
    { step: steps.intentComesFirst }
  ],
  [
    "Every machine is known",
    "No machine runs in the world that no row knows for longer than the sweep.",
    { step: steps.knownToARow }
  ],
  [
    "Gone is confirmed",
    "A machine whose row says that it is gone does not run in the world.",
    { step: steps.goneIsConfirmed }
  ],
  [
    "Capacity adds up",
    "The GPUs in use in the world are those of its machines, and not more than there are.",
    { step: steps.capacityAddsUp }
  ],
  ["Claims go forward", "A fence and a count of events never go back.", { guards: guards.claimsGoForward }],
  // What they leave
  [
    "A volume has one machine",
    "A volume is attached to at most one machine, which is not gone; it is never taken over, and two machines that run never mount it.",
    { guards: guards.volumeIsNotStolen, step: volumeSteps.volumeIsHeldByOne }
  ],
  [
    "Stored output is whole",
    "Stored output ends where its machine says, and no byte of it is rewritten.",
    { guards: guards.outputIsNotRewritten, step: steps.outputIsWhole }
  ],
  [
    "A log is what was written",
    "A stored log is what the command wrote, byte by byte, the gap of the 10 MB rule aside.",
    { end: ends.logIsWhatWasWritten }
  ],
  [
    "Nothing is left",
    "In the end no hold is open, no machine runs, no video is being made or deleted and no volume is attached.",
    { end: ends.nothingIsLeft }
  ],
  [
    "Nothing secret is told",
    "No key and no value of a variable stands in the history, a log or the database in the clear.",
    { end: ends.nothingSecret }
  ],
  // Requests to models
  [
    "An ended video never changes",
    "Nothing of a video changes after its end but that its caller deletes it, and no other one goes.",
    { guards: guards.endedVideoIsFinal }
  ],
  [
    "A video goes forward",
    "A video never goes back to an earlier state; its terms and its name in the world are set once.",
    { guards: guards.videoGoesForward }
  ],
  [
    "A video is paid once",
    "A completed video was charged its price once, and says so; a failed one nothing, and none before its end.",
    { step: requestSteps.videoIsPaidOnce }
  ],
  [
    "A video keeps its limit",
    "No video is without an end for longer than its limit, and each that was accepted is there and ended in the end, unless its caller deleted it.",
    { step: requestSteps.videoKeepsItsLimit, end: requestEnds.videosEnd }
  ],
  [
    "What failed is free",
    "A request that failed before anything of it was delivered was charged nothing.",
    { end: requestEnds.failedIsFree }
  ],
  [
    "An answer costs what it says",
    "A request that was answered was charged once, and what its answer says.",
    { end: requestEnds.answerCostsWhatItSays }
  ],
  [
    "Streamed is buffered",
    "A question that is asked streamed and buffered is answered the same and costs the same.",
    { end: requestEnds.streamedIsBuffered }
  ],
  // What is asked for
  [
    "Asked once, made once",
    "There is no job but those that were answered with 201: a submission under one key makes one, a refused one none.",
    { end: ends.onlyAccepted }
  ],
  [
    "A volume keeps what was written",
    "A volume holds what each job on it wrote, in their order; of those on lost machines it may lack some.",
    { end: ends.volumesKeepWhatWasWritten }
  ],
  [
    "Every request is answered",
    "Every request is answered in the end, if need be after a retry, and the run comes to its end.",
    { end: ends.requestsAreAnswered }
  ],
  [
    "A deleted volume leaves nothing",
    "The world holds nothing of a volume that has no row, unless its deletion is recorded; what is recorded is done within three sweeps.",
    { step: volumeSteps.deletedIsGone }
  ],
  [
    "A follower misses nothing",
    "Who follows a log is told what is stored of it, each byte once and in its place, up to the end of its job, whatever connections are lost meanwhile.",
    { end: ends.followersMissNothing }
  ],
  [
    "A change has one event",
    "Each status that a job, a machine or a video takes has one event in the outbox, in their order, and there is no other event of them.",
    { end: eventEnds.changesHaveOneEvent }
  ]
]

const NOTHING = { guards: [], step: [], end: undefined }
export const INVARIANTS: ReadonlyArray<Invariant> = LIST.map(([name, sentence, checks], index) => {
  return { number: index + 1, name, sentence, ...NOTHING, ...checks }
})

/** `I8 A second is billed once` */
export const titleOf = ({ number, name }: Pick<Invariant, "number" | "name">): string => `I${number} ${name}`
