/**
 * Transcribes a sound (interface: POST /audio/transcriptions). Its length is charged; a failed request costs nothing.
 * The service measures the length itself, so that the price is known before a model is asked.
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
      const runOrder = yield* makeMeteredResult

      return Transcriptions.of({
        models: catalog.models,
        transcribe: Effect.fnUntraced(function* (principal, requestId, request) {
          const { model, provider } = yield* catalog.find(request.model)
          const durationMs = yield* Effect.mapError(probe.durationMs(request.path), toRequestError)
          if (durationMs > model.maxSeconds * 1_000) {
            const message = `The sound lasts ${Math.ceil(durationMs / 1_000)} seconds, and ${model.id} takes at most ${model.maxSeconds}; send it in parts`
            return yield* new ModelRequestInvalid({ message, param: "file", code: "input_too_long" })
          }
          const cost = priceFor(model.minutePrice, durationMs, MINUTE_MS)
          const { file, fileName, language, path, prompt, temperature } = request
          const transcribed = provider.transcribe(model, {
            file,
            path,
            fileName,
            durationMs,
            language,
            prompt,
            temperature
          })
          const withTokens = Effect.flatMap(transcribed, (transcript) =>
            Effect.map(
              tokens.countOutput(principal.workspaceId, [transcript.text], Number.POSITIVE_INFINITY),
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
          const { transcript } = yield* runOrder(order, withTokens, ({ completion }) => ({
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

const REASON_TEXTS: Readonly<Record<SoundUnreadable["reason"], string>> = {
  unknown_format: "it is not a sound in a known format; send mp3, wav, flac, ogg, m4a, webm or aac",
  too_long: "it is too long or too hard to read",
  busy: ""
}

const toRequestError = ({ reason }: SoundUnreadable) =>
  reason === "busy"
    ? new UpstreamFailed({ reason: "overloaded" })
    : new ModelRequestInvalid({
        message: `Invalid value for 'file': ${REASON_TEXTS[reason]}`,
        param: "file",
        code: "invalid_file"
      })
