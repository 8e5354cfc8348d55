/**
 * POST /audio/transcriptions over the domain's `Transcriptions`: takes a form with a file and responds in the requested
 * format.
 */
import type { InferenceFailure } from "@sluice/api/inference/InferenceErrors"
import { renderTranscript } from "@sluice/api/inference/audio/TranscriptWire"
import { decodeTranscription } from "@sluice/domain/inference/audio/TranscriptionRequest"
import { Transcriptions } from "@sluice/domain/inference/audio/Transcriptions"
import { Effect } from "effect"
import type { UploadedForm } from "../../http/UploadedForm.ts"
import type { Caller, Reply } from "../CallerGate.ts"

export const makeTranscriptions = Effect.map(
  Transcriptions,
  (transcriptions) =>
    (caller: Caller, form: UploadedForm): Effect.Effect<Reply, InferenceFailure> =>
      Effect.gen(function* () {
        const request = yield* Effect.fromResult(decodeTranscription(form.fields, form.files.get("file")))
        const answer = yield* transcriptions.transcribe(caller.principal, caller.requestId, request)
        return { status: 200, headers: caller.headers, ...renderTranscript(request, answer) }
      })
)
