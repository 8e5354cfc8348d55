/**
 * What is said in a sound (interface: POST /audio/transcriptions), charged by its length; what fails costs nothing. How
 * long a sound is we find out ourselves, so that its price is known before a model hears it.
 */
import { Context, Effect, Layer } from "effect"
import type { Principal } from "../../access/Principal.ts"
import { type NanoUsd, priceFor } from "../../billing/Money.ts"
import { catalogOf } from "../../models/Catalog.ts"
import { type ModelRequestError, ModelRequestInvalid } from "../../models/InferenceErrors.ts"
import type { Transcript, TranscriptionModel } from "../../models/MediaProvider.ts"
import { Metering } from "../../metering/Metering.ts"
import { ModelProvider } from "../../models/ModelProvider.ts"
import { UpstreamFailed } from "../../models/UpstreamFailed.ts"
import { SoundProbe, type SoundUnreadable } from "./SoundProbe.ts"
import { Tokens } from "../../models/Tokens.ts"
import type { TranscriptionRequest } from "./TranscriptionRequest.ts"
import { AnswerLimit } from "../answers/AnswerLimit.ts"
import { makeMeteredResult } from "../answers/MeteredResult.ts"

const MINUTE_MS = 60_000n

export interface TranscriptionAnswer {
  readonly transcript: Transcript
  readonly durationMs: number
  readonly cost: NanoUsd
}

export class Transcriptions extends Context.Service<
  Transcriptions,
  {
    readonly models: ReadonlyArray<TranscriptionModel>
    readonly transcribe: (
      principal: Principal,
      requestId: string,
      request: TranscriptionRequest
    ) => Effect.Effect<TranscriptionAnswer, ModelRequestError>
  }
>()("@sluice/domain/inference/audio/Transcriptions") {
  static readonly layerNoDeps = Layer.effect(
    Transcriptions,
    Effect.gen(function* () {
      const catalog = catalogOf((yield* ModelProvider).transcription)
      const probe = yield* SoundProbe
      const tokens = yield* Tokens
      const whole = yield* makeMeteredResult

      return Transcriptions.of({
        models: catalog.models,
        transcribe: Effect.fnUntraced(function* (principal, requestId, request) {
          const { model, provider } = yield* catalog.find(request.model)
          const durationMs = yield* Effect.mapError(probe.durationMs(request.path), unreadable)
          const cost = priceFor(model.minutePrice, durationMs, MINUTE_MS)
          const { file, fileName, language, path, prompt, temperature } = request
          const heard = provider.transcribe(model, { file, path, fileName, durationMs, language, prompt, temperature })
          const counted = Effect.flatMap(heard, (transcript) =>
            Effect.map(
              tokens.countSaid(principal.workspaceId, [transcript.text], Number.POSITIVE_INFINITY),
              (completion) => ({ transcript, completion })
            )
          )
          const order = {
            principal,
            requestId,
            model: model.id,
            description: `Transcription by ${model.id}`,
            param: "file",
            cost,
            tokens: { prompt: 0, completion: 0 }
          }
          const { transcript } = yield* whole(order, counted, ({ completion }) => ({
            cost,
            tokens: { prompt: 0, completion }
          }))
          return { transcript, durationMs, cost }
        })
      })
    })
  ).pipe(Layer.provide(AnswerLimit.layer))

  static readonly layer = Transcriptions.layerNoDeps.pipe(Layer.provide(Metering.layer))
}

const WHY: Readonly<Record<SoundUnreadable["reason"], string>> = {
  unknown_format: "it is no sound in a format that is known here (mp3, wav, flac, ogg, m4a, webm, aac)",
  too_long: "it is too long or too hard to read",
  busy: ""
}

const unreadable = ({ reason }: SoundUnreadable) =>
  reason === "busy"
    ? new UpstreamFailed({ reason: "overloaded" })
    : new ModelRequestInvalid({
        message: `Invalid value for 'file': ${WHY[reason]}`,
        param: "file",
        code: "invalid_file"
      })
