/**
 * Answers chats: one path for streamed and buffered answers, from the decoded request to the settled charge.
 *
 * Money is reserved before the model is asked, and settled or released exactly once however the answer ends: complete,
 * failed, or after the caller disconnected. An answer is returned only after its charge is durable. Every call has the
 * time limit of an answer.
 */
import { Cause, Clock, Context, Crypto, Effect, Exit, Layer } from "effect"
import type { Principal } from "../../access/Principal.ts"
import type { NanoUsd } from "../../billing/Money.ts"
import { AnswerLimit } from "../answers/AnswerLimit.ts"
import type { ChatRequest } from "../../models/ChatRequest.ts"
import { promptText } from "./ChatPrompt.ts"
import { type ChatTask, fit, findImageRefusal } from "./ChatTask.ts"
import { ImageFetch } from "../images/ImageFetch.ts"
import { ModelNotFound, type ModelRequestError, ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import { linksOf, findLinkMistake, fetchLinkedImages } from "../images/LinkedImages.ts"
import { Metering } from "../../metering/Metering.ts"
import { type Reservation } from "../../metering/Settlement.ts"
import { makeModelMetrics, type Watch } from "../../models/ModelMetrics.ts"
import { type ChatEvent, type Model, ModelProvider } from "../../models/ModelProvider.ts"
import { UpstreamFailed } from "../../models/UpstreamFailed.ts"
import { flatMapSync, exitIfSettled } from "../../runtime/SyncFastPath.ts"
import { runMetered } from "../answers/MeteredCall.ts"
import { AnswerAccumulator, type FinishedChoice } from "./AnswerAccumulator.ts"
import { tokenCost } from "../../models/TokenCost.ts"
import { Tokens } from "../../models/Tokens.ts"

/** The part of an answer that is known before its first event. */
export interface AnswerHead {
  /** A UUID. Each wire format adds its own prefix. */
  readonly id: string
  /** Unix seconds. */
  readonly created: number
  readonly model: string
}

export interface AnswerUsage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cost: NanoUsd
}

export interface Answer {
  readonly head: AnswerHead
  readonly choices: ReadonlyArray<FinishedChoice>
  readonly usage: AnswerUsage
}

/** Passes events on to the caller. The model waits for the effect. */
export type Emit<E> = (head: AnswerHead, events: ReadonlyArray<ChatEvent>) => Effect.Effect<void, E>

export class Inference extends Context.Service<
  Inference,
  {
    readonly models: ReadonlyArray<Model>
    /**
     * Answers a chat. `emit` undefined: nothing is passed on before the end, and a failed answer costs nothing.
     * `isGone` returns whether an interruption is due to the caller; if the server interrupts an answer before its
     * first event, it costs nothing.
     */
    readonly chat: <E = never>(
      principal: Principal,
      requestId: string,
      request: ChatRequest,
      emit?: Emit<E> | undefined,
      isGone?: () => boolean
    ) => Effect.Effect<Answer, ModelRequestError | E>
  }
>()("@sluice/domain/inference/chat/Inference") {
  static readonly layerNoDeps = Layer.effect(
    Inference,
    Effect.gen(function* () {
      const provider = yield* ModelProvider
      const metering = yield* Metering
      const tokens = yield* Tokens
      const images = yield* ImageFetch
      const metrics = yield* makeModelMetrics
      const clock = yield* Clock.Clock
      const newId = Effect.orDie((yield* Crypto.Crypto).randomUUIDv7())
      const limitAnswer = yield* AnswerLimit
      const catalog = new Map(provider.models.map((model) => [model.id, model]))
      for (const id of catalog.keys()) metrics(id)

      const model = (id: string): Effect.Effect<Model, ModelNotFound> => {
        const found = catalog.get(id)
        return found === undefined ? Effect.fail(new ModelNotFound({ model: id })) : Effect.succeed(found)
      }

      const countAndFit = (caller: string, found: Model, request: ChatRequest) =>
        flatMapSync(tokens.count(caller, promptText(request), found.contextLength), (count) =>
          fit(found, request, count)
        )

      /** Checks the request against its model, fetches its images and counts its prompt. */
      const admit = (caller: string, request: ChatRequest) =>
        flatMapSync(model(request.model), (found): Effect.Effect<ChatTask, ModelRequestInvalid | UpstreamFailed> => {
          const links = linksOf(request)
          const refusal =
            findLinkMistake(links, images) ?? findImageRefusal(found, request) ?? provider.refuses?.(found, request)
          if (refusal !== undefined) return Effect.fail(new ModelRequestInvalid({ ...refusal, code: null }))
          return links.length === 0 || images === undefined
            ? countAndFit(caller, found, request)
            : Effect.flatMap(fetchLinkedImages(images, caller, request, links), (fetched) =>
                countAndFit(caller, found, fetched)
              )
        })

      /** Returns the billed usage of the events so far. */
      const usageOf = (
        { principal }: RunningCharge,
        task: ChatTask,
        accumulator: AnswerAccumulator
      ): Effect.Effect<AnswerUsage> => {
        const { counted: countedSoFar, reported } = accumulator
        const { allowed, model, request } = task
        const prompt = Math.min(reported?.prompt ?? task.promptTokens, task.promptTokens)
        const reportedCompletion = Math.min(reported?.completion ?? countedSoFar, allowed * request.choices)
        const usage = (completion: number) =>
          Effect.succeed({
            promptTokens: prompt,
            completionTokens: completion,
            cost: tokenCost(model, prompt, completion)
          })
        // An upstream's count is accepted (also zero), up to the reserved count. For several choices some upstreams
        // report the count of one, so the larger count is billed.
        return reported !== undefined && request.choices === 1
          ? usage(reportedCompletion)
          : flatMapSync(tokens.countOutput(principal.workspaceId, accumulator.texts, allowed), (counted) =>
              usage(Math.max(counted, reportedCompletion))
            )
      }

      /** If the tokens cannot be counted, the answer costs nothing and its reservation is released. */
      const usageOrRelease = (
        charge: RunningCharge,
        task: ChatTask,
        accumulator: AnswerAccumulator
      ): Effect.Effect<AnswerUsage> => {
        const usage = usageOf(charge, task, accumulator)
        const settledUsage = exitIfSettled(usage)
        return settledUsage !== undefined && Exit.isSuccess(settledUsage)
          ? settledUsage
          : Effect.tapCause(usage, () => release(charge, task))
      }

      /** Charges the answer so far, and returns it. */
      const settle = (charge: RunningCharge, head: AnswerHead, task: ChatTask, accumulator: AnswerAccumulator) =>
        flatMapSync(usageOrRelease(charge, task, accumulator), (usage) =>
          Effect.as(
            metering.settle({
              ...charge,
              model: task.model.id,
              tokens: { prompt: usage.promptTokens, completion: usage.completionTokens },
              cost: usage.cost
            }),
            answerOf(head, task, accumulator, usage)
          )
        )

      const release = (charge: RunningCharge, task: ChatTask) =>
        metering.settle({ ...charge, model: task.model.id, tokens: null, cost: 0n })

      const produce = <E>(
        head: AnswerHead,
        task: ChatTask,
        accumulator: AnswerAccumulator,
        watch: Watch,
        emit: Emit<E> | undefined
      ) =>
        Effect.suspend(() => {
          accumulator.hasStarted = true
          const chat = provider.chat(task.model, task.request, (events): Effect.Effect<void, E | UpstreamFailed> => {
            watch.heard()
            const passedOn = accumulator.add(events)
            if (accumulator.isExcessive) return Effect.fail(BROKEN)
            if (emit === undefined || passedOn.length === 0) return Effect.void
            accumulator.hasDelivered = true
            return emit(head, passedOn)
          })
          const completed = flatMapSync(chat, () => (accumulator.isComplete ? Effect.void : Effect.fail(BROKEN)))
          // An answer that is there already needs no time limit.
          return exitIfSettled(completed) === undefined ? limitAnswer(completed) : completed
        })

      const run = <E>(
        charge: RunningCharge,
        task: ChatTask,
        head: AnswerHead,
        emit: Emit<E> | undefined,
        isGone: () => boolean
      ) => {
        const accumulator = new AnswerAccumulator(task.request.choices, task.allowed)
        return runMetered(metering, {
          charge,
          amount: tokenCost(task.model, task.promptTokens, task.allowed * task.request.choices),
          param: "messages",
          watch: () => metrics(task.model.id).watch(clock, emit !== undefined),
          produce: (watch) => produce(head, task, accumulator, watch, emit),
          settle: ({ lease }) => settle({ ...charge, lease }, head, task, accumulator),
          release: ({ lease }, cause) => {
            // A failed answer costs nothing if the caller received no event. If the caller disconnected, the model
            // worked for it, and the answer is charged.
            const hasCallerLeft = Cause.hasInterrupts(cause) && isGone()
            const isCharged = accumulator.hasDelivered || (accumulator.hasStarted && hasCallerLeft)
            const reserved = { ...charge, lease }
            // When many callers disconnect at once, all their calls are interrupted before the first answer is counted.
            return Effect.andThen(
              Effect.yieldNow,
              isCharged ? settle(reserved, head, task, accumulator) : release(reserved, task)
            )
          }
        })
      }

      const chat = <E = never>(
        principal: Principal,
        requestId: string,
        request: ChatRequest,
        emit?: Emit<E> | undefined,
        isGone: () => boolean = () => true
      ) =>
        flatMapSync(admit(principal.workspaceId, request), (task) =>
          Effect.flatMap(newId, (id) => {
            const head = { id, created: Math.floor(clock.currentTimeMillisUnsafe() / 1000), model: task.model.id }
            return run({ id, principal, requestId }, task, head, emit, isGone)
          })
        )

      return { models: provider.models, chat }
    })
  ).pipe(Layer.provide(AnswerLimit.layer))

  static readonly layer = Inference.layerNoDeps.pipe(Layer.provide(Metering.layer))
}

/** The answer was cut off, or exceeds its limit. */
const BROKEN = new UpstreamFailed({ reason: "broken" })

interface RunningCharge extends Reservation {
  readonly requestId: string
}

const answerOf = (head: AnswerHead, task: ChatTask, accumulator: AnswerAccumulator, usage: AnswerUsage): Answer => ({
  head,
  choices: accumulator.finishedChoices(task.request.logprobs),
  usage
})
