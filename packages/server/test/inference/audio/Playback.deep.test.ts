/** Playback of the simulated models' media in a browser. */
import { expect, it } from "@effect/vitest"
import { instant } from "@sluice/simulator/models/ModelWorld"
import { Effect, Layer, Schedule } from "effect"
import { ownPglite } from "@sluice/testing/engines/Databases"
import { browser, describeInChromium } from "@sluice/testing/engines/Chromium"
import { chatServer, simulateModels } from "../support/ChatServer.ts"
import { customer, keys, NANO } from "../support/Customer.ts"

const Running = chatServer(keys, simulateModels(instant(7))).pipe(Layer.provideMerge(ownPglite))

/** Plays a file to its end, muted and fast; returns the browser's properties of it. */
const played = (element: "audio" | "video", file: string, type: string) => `new Promise((resolve, reject) => {
  const bytes = Uint8Array.from(atob(${JSON.stringify(file)}), (c) => c.charCodeAt(0))
  const player = document.createElement(${JSON.stringify(element)})
  player.muted = true
  player.playbackRate = 4
  player.onended = () => resolve({
    seconds: player.duration, at: player.currentTime, width: player.videoWidth ?? 0, height: player.videoHeight ?? 0,
    frames: player.getVideoPlaybackQuality?.().totalVideoFrames ?? 0
  })
  player.onerror = () => reject(new Error(player.error?.message ?? "cannot be played"))
  player.src = URL.createObjectURL(new Blob([bytes], { type: ${JSON.stringify(type)} }))
  document.body.append(player)
  player.play().catch(reject)
})`

interface Played {
  readonly seconds: number
  readonly at: number
  readonly width: number
  readonly height: number
  readonly frames: number
}

describeInChromium("media of the simulated models", () => {
  it.live(
    "plays to its end in a browser",
    () =>
      Effect.gen(function* () {
        const { client } = yield* customer(2n * NANO)
        const page = yield* browser
        const play = (element: "audio" | "video", file: Buffer, type: string) =>
          Effect.promise(() => page.evaluate<Played>(played(element, file.toString("base64"), type)))
        const order = { model: "sluice-film", prompt: "a harbour at dawn", seconds: "4", size: "1280x720" } as const
        const { id } = yield* Effect.promise(() => client.videos.create(order as never))
        yield* Effect.repeat(
          Effect.promise(() => client.videos.retrieve(id)),
          { schedule: Schedule.spaced("100 millis"), until: ({ status }) => status === "completed" }
        )
        const film = yield* Effect.promise(async () => (await client.videos.downloadContent(id)).arrayBuffer())
        const shown = yield* play("video", Buffer.from(film), "video/mp4")
        expect(shown).toMatchObject({ width: 1280, height: 720 })
        expect(shown.seconds).toBeCloseTo(4, 1)
        expect(shown.at).toBeCloseTo(shown.seconds, 1)
        expect(shown.frames).toBeGreaterThan(10)

        for (const [format, type] of [
          ["mp3", "audio/mpeg"],
          ["wav", "audio/wav"]
        ] as const) {
          const input = "The boats wait for the tide."
          const body = { model: "sluice-voice", voice: "nova", input, response_format: format }
          const speech = yield* Effect.promise(async () => (await client.audio.speech.create(body)).arrayBuffer())
          const heard = yield* play("audio", Buffer.from(speech), type)
          expect(heard.seconds).toBeGreaterThan(1.5)
          expect(heard.at).toBeCloseTo(heard.seconds, 1)
        }
      }).pipe(Effect.scoped, Effect.provide(Running)),
    300_000
  )
})
