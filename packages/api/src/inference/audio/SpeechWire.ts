/** Writes the events of POST /audio/speech with `stream_format: sse`. */
import { toUsd } from "@sluice/domain/billing/Money"
import type { SpeechAnswer } from "@sluice/domain/inference/audio/Speech"

/** Characters of base64 in one event. A multiple of four, so that each event can be decoded separately. */
const MAX_EVENT_CHARACTERS = 65_536

/** Returns all events of an answer. `sound`: base64. */
export const speechEventsText = (sound: string, { cost, promptTokens }: SpeechAnswer): string => {
  const events: Array<string> = []
  for (let at = 0; at < sound.length; at += MAX_EVENT_CHARACTERS) {
    events.push(event({ type: "speech.audio.delta", audio: sound.slice(at, at + MAX_EVENT_CHARACTERS) }))
  }
  const usage = { input_tokens: promptTokens, output_tokens: 0, total_tokens: promptTokens, cost: toUsd(cost) }
  return events.join("") + event({ type: "speech.audio.done", usage })
}

const event = (data: { readonly type: string; readonly audio?: string; readonly usage?: object }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
