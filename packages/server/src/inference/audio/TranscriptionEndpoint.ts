/**
 * POST /audio/transcriptions over the domain's `Transcriptions`: takes a form with a file and responds in the requested
 * format.
 */
import { renderTranscript } from "@sluice/api/inference/audio/TranscriptWire"
import { decodeTranscription, MAX_SOUND_BYTES } from "@sluice/domain/inference/audio/TranscriptionRequest"
import { Transcriptions } from "@sluice/domain/inference/audio/Transcriptions"
import { Effect } from "effect"
import type { UploadedForm } from "../../http/UploadedForm.ts"
import type { Caller } from "../CallerGate.ts"
import { type Routed, RoutedRequests } from "../RoutedRequests.ts"

const FORM = { file: "file", maxFileBytes: MAX_SOUND_BYTES }

export const makeTranscriptions = Effect.gen(function* () {
  const transcriptions = yield* Transcriptions
  const { withForm } = yield* RoutedRequests

  const answerOf = Effect.fnUntraced(function* (caller: Caller, form: UploadedForm) {
    const request = yield* Effect.fromResult(decodeTranscription(form.fields, form.files.get(FORM.file)))
    const answer = yield* transcriptions.transcribe(caller.principal, caller.requestId, request)
    return { status: 200, headers: caller.headers, ...renderTranscript(request, answer) }
  })

  return ({ request }: Routed) => withForm(request, FORM, answerOf)
})
