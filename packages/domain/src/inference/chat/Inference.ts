/**
 * Answers chats: one path for streamed and buffered answers, from the checked request to the settled charge.
 *
 * The hold is taken before the model is asked and resolved exactly once however the answer ends: complete, failed, or the
 * caller gone. An answer is returned only after its charge is durable. No model is asked for longer than the limit.
 */
import { Cause, Clock, Context, Crypto, Effect, Exit, Layer } from "effect"
import type { Principal } from "../../access/Principal.ts"
import type { NanoUsd } from "../../billing/Money.ts"
import { AnswerLimit } from "../answers/AnswerLimit.ts"
import type { ChatRequest } from "../../models/ChatRequest.ts"
import { promptText } from "./ChatPrompt.ts"
import { type ChatTask, fit, imagesRefused } from "./ChatTask.ts"
import { ImageFetch } from "../images/ImageFetch.ts"
import { ModelNotFound, type ModelRequestError, ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import { linksOf, linksRefused, withImages } from "../images/LinkedImages.ts"
import { Metering } from "../../metering/Metering.ts"
import { type Reservation } from "../../metering/Settlement.ts"
import { makeModelMetrics, type Watch } from "../../models/ModelMetrics.ts"
import { type ChatEvent, type Model, ModelProvider } from "../../models/ModelProvider.ts"
import { UpstreamFailed } from "../../models/UpstreamFailed.ts"
import { flatMapSync, exitIfSettled } from "../../runtime/SyncFastPath.ts"
import { runMetered } from "../answers/MeteredCall.ts"
import { AnswerAccumulator, type SaidChoice } from "./AnswerAccumulator.ts"
import { tokenCost } from "../../models/TokenCost.ts"
import { Tokens } from "../../models/Tokens.ts"

/** What is known of an answer before its first word. */
export interface AnswerHead {
  /** A UUID; on the wire each form of answer puts its own prefix before it. */
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
  readonly choices: ReadonlyArray<SaidChoice>
  readonly usage: AnswerUsage
}

/** Hands produced events on; the model waits until it returns. */
export type Emit<E> = (head: AnswerHead, events: ReadonlyArray<ChatEvent>) => Effect.Effect<void, E>

export class Inference extends Context.Service<
  Inference,
  {
    readonly models: ReadonlyArray<Model>
    /**
     * `emit` undefined: nothing is handed on before the end, and a failed answer costs nothing. `isGone`: whether it is the
     * caller's own doing that it is interrupted; what the server ends before a word costs nothing either.
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
      const withinLimit = yield* AnswerLimit
      const catalog = new Map(provider.models.map((model) => [model.id, model]))
      for (const id of catalog.keys()) metrics(id)

      const model = (id: string): Effect.Effect<Model, ModelNotFound> => {
        const found = catalog.get(id)
        return found === undefined ? Effect.fail(new ModelNotFound({ model: id })) : Effect.succeed(found)
      }

      const fitted = (caller: string, found: Model, asked: ChatRequest) =>
        flatMapSync(tokens.count(caller, promptText(asked), found.contextLength), (count) => fit(found, asked, count))

      /** The request as this model can serve it, with its images in place and its prompt counted. */
      const admit = (caller: string, request: ChatRequest) =>
        flatMapSync(model(request.model), (found): Effect.Effect<ChatTask, ModelRequestInvalid | UpstreamFailed> => {
          const links = linksOf(request)
          const refusal =
            linksRefused(links, images) ?? imagesRefused(found, request) ?? provider.refuses?.(found, request)
          if (refusal !== undefined) return Effect.fail(new ModelRequestInvalid({ ...refusal, code: null }))
          return links.length === 0 || images === undefined
            ? fitted(caller, found, request)
            : Effect.flatMap(withImages(images, caller, request, links), (seen) => fitted(caller, found, seen))
        })

      /** The billed usage of what was produced. */
      const usageOf = (
        { principal }: Charging,
        task: ChatTask,
        production: AnswerAccumulator
      ): Effect.Effect<AnswerUsage> => {
        const { counted: soFar, reported } = production
        const { allowed, model, request } = task
        const prompt = Math.min(reported?.prompt ?? task.promptTokens, task.promptTokens)
        const told = Math.min(reported?.completion ?? soFar, allowed * request.choices)
        const billed = (completion: number) =>
          Effect.succeed({
            promptTokens: prompt,
            completionTokens: completion,
            cost: tokenCost(model, prompt, completion)
          })
        // An upstream's count is believed (zero too), within what was reserved. Of several choices some tell that of one.
        return reported !== undefined && request.choices === 1
          ? billed(told)
          : flatMapSync(tokens.countSaid(principal.workspaceId, production.texts, allowed), (own) =>
              billed(Math.max(own, told))
            )
      }

      /** What can't be counted costs nothing: what is set aside for it is let go. */
      const counted = (charge: Charging, task: ChatTask, production: AnswerAccumulator): Effect.Effect<AnswerUsage> => {
        const usage = usageOf(charge, task, production)
        const known = exitIfSettled(usage)
        return known !== undefined && Exit.isSuccess(known)
          ? known
          : Effect.tapCause(usage, () => release(charge, task))
      }

      /** Charges what was produced, and gives it as an answer. */
      const settle = (charge: Charging, head: AnswerHead, task: ChatTask, production: AnswerAccumulator) =>
        flatMapSync(counted(charge, task, production), (usage) =>
          Effect.as(
            metering.settle({
              ...charge,
              model: task.model.id,
              tokens: { prompt: usage.promptTokens, completion: usage.completionTokens },
              cost: usage.cost
            }),
            answerOf(head, task, production, usage)
          )
        )

      const release = (charge: Charging, task: ChatTask) =>
        metering.settle({ ...charge, model: task.model.id, tokens: null, cost: 0n })

      const produce = <E>(
        head: AnswerHead,
        task: ChatTask,
        production: AnswerAccumulator,
        watch: Watch,
        emit: Emit<E> | undefined
      ) =>
        Effect.suspend(() => {
          production.started = true
          const chat = provider.chat(task.model, task.request, (events): Effect.Effect<void, E | UpstreamFailed> => {
            watch.heard()
            const kept = production.add(events)
            if (production.excessive) return Effect.fail(BROKEN)
            if (emit === undefined || kept.length === 0) return Effect.void
            production.delivered = true
            return emit(head, kept)
          })
          const whole = flatMapSync(chat, () => (production.complete ? Effect.void : Effect.fail(BROKEN)))
          // What is there already needs no limit.
          return exitIfSettled(whole) === undefined ? withinLimit(whole) : whole
        })

      const run = <E>(
        charge: Charging,
        task: ChatTask,
        head: AnswerHead,
        emit: Emit<E> | undefined,
        isGone: () => boolean
      ) => {
        const production = new AnswerAccumulator(task.request.choices, task.allowed)
        return runMetered(metering, {
          charge,
          amount: tokenCost(task.model, task.promptTokens, task.allowed * task.request.choices),
          param: "messages",
          watch: () => metrics(task.model.id).watch(clock, emit !== undefined),
          produce: (watch) => produce(head, task, production, watch, emit),
          settle: ({ share }) => settle({ ...charge, share }, head, task, production),
          release: ({ share }, cause) => {
            // A failed answer of which the caller saw nothing costs nothing; a caller that went away had it produced.
            const left = Cause.hasInterrupts(cause) && isGone()
            const owed = production.delivered || (production.started && left)
            const charging = { ...charge, share }
            // Where many go away at once, all their models are let go before the first answer is counted.
            return Effect.andThen(
              Effect.yieldNow,
              owed ? settle(charging, head, task, production) : release(charging, task)
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

/** An answer that is cut short, or does not end where it must. */
const BROKEN = new UpstreamFailed({ reason: "broken" })

interface Charging extends Reservation {
  readonly requestId: string
}

const answerOf = (head: AnswerHead, task: ChatTask, production: AnswerAccumulator, usage: AnswerUsage): Answer => ({
  head,
  choices: production.said(task.request.logprobs),
  usage
})
