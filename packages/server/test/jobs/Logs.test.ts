/** `GET /jobs/{id}/logs` over a socket: its forms, its offsets, its refusals. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { rawRequest } from "@sluice/testing/servers/RawHttp"
import { TestServer, testServer } from "@sluice/testing/servers/TestServer"

const LINE = "hello from the machine\n"

layer(testServer, { excludeTestServices: true, timeout: "5 minutes" })("job logs", (it) => {
  it.effect("logs come as text or as events, from any byte", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const job = { command: "true", gpu_type: "H100", max_runtime_minutes: 1 }
      const { id } = (yield* ask("/api/v1/jobs", { body: job })).json.data
      const logs = (query = "", headers: Record<string, string> = {}) =>
        ask(`/api/v1/jobs/${id}/logs${query}`, { headers })
      const events = { accept: "text/event-stream" }

      const whole = yield* logs()
      expect([whole.status, whole.text, whole.headers.get("content-type")]).toEqual([
        200,
        LINE,
        "text/plain; charset=utf-8"
      ])
      expect((yield* logs("?offset=6")).text).toBe(LINE.slice(6))
      expect((yield* logs("?tail=1&follow=false")).text).toBe(LINE)
      expect((yield* logs("?tail=0")).text).toBe("")
      expect((yield* logs("?offset=1000")).text).toBe("")

      const told = yield* logs("", events)
      expect(told.headers.get("content-type")).toBe("text/event-stream")
      expect(told.text).toContain(`id: ${LINE.length}\nevent: log\ndata: ${JSON.stringify({ text: LINE })}\n\n`)
      expect(told.text).toContain("event: status\n")
      expect(told.text.endsWith('event: end\ndata: {"status":"succeeded","exit_code":0}\n\n')).toBe(true)
      const resumed = yield* logs("", { ...events, "last-event-id": "6" })
      expect(resumed.text).toContain(JSON.stringify({ text: LINE.slice(6) }))
      expect((yield* logs("", { ...events, "last-event-id": String(LINE.length) })).text).not.toContain("event: log")

      for (const [accept, type] of [
        ["text/plain, text/event-stream;q=0.5", "text/plain; charset=utf-8"],
        ["text/event-stream; q=0.5, */*", "text/plain; charset=utf-8"],
        ["text/event-stream;q=0.3, text/*;q=0.4", "text/plain; charset=utf-8"],
        ["text/event-stream;q=0.0, text/html", "text/plain; charset=utf-8"],
        ["*/*", "text/plain; charset=utf-8"],
        ["text/event-stream;q=0.5", "text/event-stream"],
        ["text/event-stream, */*", "text/event-stream"],
        ["text/plain, Text/Event-Stream", "text/event-stream"],
        ["text/plain;q=0.2, text/event-stream;charset=utf-8;Q=0.5, */*", "text/event-stream"]
      ] as const) {
        expect([accept, (yield* logs("", { accept })).headers.get("content-type")]).toEqual([accept, type])
      }

      for (const [query, headers] of [
        ["?offset=-1", {}],
        ["?offset=x", {}],
        ["?offset=1&tail=1", {}],
        ["?follow=maybe", {}],
        ["?from=1", {}],
        ["", { ...events, "last-event-id": "x" }]
      ] as const) {
        expect([query, (yield* logs(query, headers)).status]).toEqual([query, 422])
      }
      expect((yield* ask("/api/v1/jobs/01890a5d-ac96-774b-bcce-b302099a8057/logs")).status).toBe(404)
    })
  )

  it.effect("logs survive a forged upgrade and a HEAD request", () =>
    Effect.gen(function* () {
      const { ask, port } = yield* TestServer
      const upgrade = [
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAA"
      ]
      const told = yield* rawRequest(port, ["GET /api/v1/jobs HTTP/1.1", "Host: localhost", ...upgrade])
      expect(told.status).toBe(401)
      const head = yield* ask("/api/v1/jobs/01890a5d-ac96-774b-bcce-b302099a8057/logs", { method: "HEAD" })
      expect(head.status).toBe(404)
    })
  )

  it.effect("the log is events for a caller that accepts them, whatever the case and quality it names", () =>
    Effect.gen(function* () {
      const { ask } = yield* TestServer
      const body = { command: "true", gpu_type: "H100", max_runtime_minutes: 1 }
      const { id } = (yield* ask("/api/v1/jobs", { body })).json.data
      const logs = (accept: string, query = "") => ask(`/api/v1/jobs/${id}/logs${query}`, { headers: { accept } })
      for (const accept of ["text/event-stream;q=0", "text/plain, text/event-stream; q=0.0", "text/event-streams"]) {
        expect((yield* logs(accept)).headers.get("content-type")).toBe("text/plain; charset=utf-8")
      }
      for (const query of ["", "?follow=false"]) {
        const told = yield* logs("text/plain;q=0.5, Text/Event-Stream;q=0.9", query)
        expect(told.text.endsWith('event: end\ndata: {"status":"succeeded","exit_code":0}\n\n')).toBe(true)
      }
    })
  )
})
