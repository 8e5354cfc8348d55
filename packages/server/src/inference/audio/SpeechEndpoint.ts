/** POST /audio/speech over the domain's `Speech`: responds with a sound file, or with events that contain it. */
import { speechEventsText } from "@sluice/api/inference/audio/SpeechWire"
import type { SpeechFormat } from "@sluice/domain/models/MediaProvider"
import { Speech } from "@sluice/domain/inference/audio/Speech"
import { decodeSpeech } from "@sluice/domain/inference/audio/SpeechRequest"
import { Effect } from "effect"
import type { Caller } from "../CallerGate.ts"
import { type Routed, RoutedRequests } from "../RoutedRequests.ts"

const CONTENT_TYPES: Readonly<Record<SpeechFormat, string>> = { mp3: "audio/mpeg", pcm: "audio/pcm", wav: "audio/wav" }

export const makeSpeech = Effect.gen(function* () {
  const speech = yield* Speech
  const { withJson } = yield* RoutedRequests

  const answerOf = Effect.fnUntraced(function* (caller: Caller, body: unknown) {
    const request = yield* Effect.fromResult(decodeSpeech(body))
    const answer = yield* speech.speak(caller.principal, caller.requestId, request)
    const { headers } = caller
    if (!request.events) {
      return { status: 200, contentType: CONTENT_TYPES[request.format], body: answer.sound, headers }
    }
    const text = speechEventsText(Buffer.from(answer.sound).toString("base64"), answer)
    return { status: 200, contentType: "text/event-stream", body: text, headers }
  })

  return ({ request }: Routed) => withJson(request, answerOf)
})
