/** Who has gone away by the time that the body is read is not answered: no model works for nobody, and nobody pays for it. */
import { expect, it } from "@effect/vitest"
import { Rooms } from "@sluice/server/http/BodyRoom"
import { makeHotRoutes } from "@sluice/server/http/HotRoutes"
import { Effect } from "effect"
import { EventEmitter } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { PassThrough } from "node:stream"

it.effect("a hot route answers who is there, and nobody else", () =>
  Effect.gen(function* () {
    const routes = makeHotRoutes(() => true, new Rooms())
    const read: Array<string> = []
    yield* routes.add({
      path: "/hot",
      maxBodyBytes: 100,
      handler: (_source, _response, text) => Effect.orDie(Effect.map(text, (body) => void read.push(body))),
      stopped: () => {}
    })
    for (const destroyed of [false, true]) {
      const stream = new PassThrough()
      const head = { headers: { "content-length": "4" }, rawHeaders: [], method: "POST", url: "/hot" }
      const response = Object.assign(new EventEmitter(), { destroyed: false })
      const source = Object.assign(stream, head) as unknown as IncomingMessage
      expect(routes.take(source, response as unknown as ServerResponse)).toBe(true)
      response.destroyed = destroyed
      stream.end(destroyed ? "gone" : "here")
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
    expect(read).toEqual(["here"])
  }).pipe(Effect.scoped)
)
