/** Upstreams that make films. */
import { Effect, Logger } from "effect"
import { kinds } from "@sluice/testing/upstreams/Kinds"
import { recordedServer, says, type Script } from "@sluice/testing/upstreams/RecordedServer"
import { world } from "@sluice/testing/upstreams/UpstreamWorld"

export const FILM = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251))

/** An upstream with films; `ranges`: whether it gives parts. */
export const studio =
  (ranges: boolean): Script =>
  (seen, response) => {
    if (seen.method === "POST") return says(response, 200, { id: "video_1/?#", object: "video", status: "queued" })
    if (seen.method === "DELETE") return says(response, 200, { deleted: true })
    if (!seen.path.endsWith("/content")) return says(response, 200, { status: "in_progress", progress: 30 })
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(seen.headers.range ?? "") ?? []
    if (!ranges || start === undefined) {
      response.writeHead(200, { "content-type": "video/mp4", "content-length": FILM.length })
      return void response.end(FILM)
    }
    response.writeHead(206, {
      "content-type": "video/mp4",
      "content-range": `bytes ${start}-${end}/${FILM.length}`
    })
    response.end(FILM.subarray(Number(start), Number(end) + 1))
  }

export const over = (scripts: ReadonlyArray<Script>) =>
  Effect.gen(function* () {
    const servers = yield* Effect.forEach(scripts, recordedServer)
    const models = yield* world([kinds(servers.map(({ url }) => ({ base_url: url, model: "up" }))).video])
    const provider = models.videos!
    return { servers, provider, model: provider.models[0]!, health: models.health! }
  })

export const task = {
  id: "01a1fe5d-0000-7000-8000-000000000001",
  prompt: "a cat",
  size: "64x64",
  seconds: 8,
  image: undefined
}
export const told = <A>(effect: Effect.Effect<A, { readonly reason: string }>): Effect.Effect<A | string> =>
  Effect.match(effect, { onFailure: ({ reason }) => reason, onSuccess: (value) => value }).pipe(
    Effect.provide(Logger.layer([]))
  )
