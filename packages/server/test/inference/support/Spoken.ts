/** Speech by the stock client, as tests of sounds hear it. */
import { Effect } from "effect"
import type { SpeechCreateParams } from "openai/resources/audio/speech"
import type { customer } from "./Customer.ts"

export const TEXT = "The harbour is quiet, and the boats wait. Nobody speaks: façade! 🎉"

export type Client = Effect.Success<ReturnType<typeof customer>>["client"]

export const speak = (client: Client, body: Partial<SpeechCreateParams> = {}) =>
  Effect.promise(async () => {
    const response = await client.audio.speech.create({ model: "sluice-voice", voice: "alloy", input: TEXT, ...body })
    return { type: response.headers.get("content-type"), bytes: Buffer.from(await response.arrayBuffer()) }
  })
