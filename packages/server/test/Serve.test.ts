/** The server as `npm start` runs it, on its own data directory: first start, work, stop, second start. */
import { describe, expect, it } from "@effect/vitest"
import type { Settings } from "@sluice/server/Config"
import { parse } from "@sluice/server/Config"
import { serve } from "@sluice/server/Serve"
import type { Welcome } from "@sluice/server/Welcome"
import { welcomeText } from "@sluice/server/Welcome"
import { Deferred, Effect, Fiber, Redacted, Result } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "sluice-serve-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Starts, works, and stops as SIGTERM does. */
const running = <A, E, R>(settings: Settings, work: (welcome: Welcome) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const config = Result.getOrThrow(parse({ port: "0", ...settings }))
    const up = yield* Deferred.make<Welcome>()
    const server = yield* Effect.forkChild(serve(config, (welcome) => Effect.asVoid(Deferred.succeed(up, welcome))))
    const welcome = yield* Effect.raceFirst(Deferred.await(up), Fiber.join(server))
    const result = yield* work(welcome)
    yield* Fiber.interrupt(server)
    return result
  })

interface Body {
  readonly data: Readonly<Record<string, string & number>> & ReadonlyArray<{ readonly kind: string }>
}

const call = async (welcome: Welcome, key: string, path: string, body?: unknown) =>
  fetch(`${welcome.origin}/api/v1${path}`, {
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
  })

const api = (welcome: Welcome, key: string) => async (path: string, body?: unknown) =>
  (await (await call(welcome, key, path, body)).json()) as Body

describe("serve", () => {
  it.live("serve starts with a key and credit, runs a job, and keeps its state over a restart", () =>
    Effect.gen(function* () {
      const data = yield* directory
      const key = yield* running({ data, speed: "100" }, (welcome) =>
        Effect.promise(async () => {
          if (welcome.key._tag !== "Made") throw new Error("no key was made")
          const text = Redacted.value(welcome.key.key)
          expect(welcomeText(welcome).split(text).length).toBeGreaterThan(2)
          const ask = api(welcome, text)
          expect((await ask("/billing/balance")).data.balance_usd).toBe(100)
          const command = "echo started; sleep 60; echo $SERVICE_GPU_TYPE"
          const job = (await ask("/jobs", { command, gpu_type: welcome.gpuType, max_runtime_minutes: 5 })).data
          expect(await (await call(welcome, text, `/jobs/${job.id}/logs`)).text()).toBe(`started\n${welcome.gpuType}\n`)
          const ended = (await ask(`/jobs/${job.id}`)).data
          expect([ended.status, ended.exit_code]).toEqual(["succeeded", 0])
          expect(Date.parse(ended.ended_at ?? "") - Date.parse(ended.started_at ?? "")).toBeGreaterThanOrEqual(60_000)
          return text
        })
      )
      yield* running({ data, speed: "100" }, (welcome) =>
        Effect.promise(async () => {
          expect(welcome.key._tag).toBe("Older")
          expect(welcomeText(welcome)).not.toContain(key)
          const { data: transactions } = await api(welcome, key)("/billing/transactions")
          expect(transactions.map((row) => row.kind)).toEqual(["machine", "credit"])
        })
      )
    }).pipe(Effect.scoped)
  )

  it.live("serve accepts the operator's first key, never prints it, and reports a port in use", () =>
    Effect.gen(function* () {
      const data = yield* directory
      const other = yield* directory
      const key = `svc_live_${"b".repeat(38)}`
      yield* running({ data, "bootstrap-key": key }, (welcome) =>
        Effect.gen(function* () {
          expect(welcomeText(welcome)).not.toContain(key)
          // The command line would otherwise use port 8080.
          expect(welcomeText(welcome)).toContain(` SLUICE_INFRA_URL=${welcome.origin}/api/v1\n`)
          expect(welcomeText({ ...welcome, origin: "http://127.0.0.1:8080" })).not.toContain("SLUICE_INFRA_URL")
          expect((yield* Effect.promise(() => api(welcome, key)("/jobs"))).data).toEqual([])
          const { port } = new URL(welcome.origin)
          const error = yield* Effect.flip(serve(Result.getOrThrow(parse({ data: other, port })), () => Effect.void))
          expect([error._tag, error.message.includes("--port")]).toEqual(["CannotListen", true])
          const file = fileURLToPath(import.meta.url)
          const none = yield* Effect.flip(serve(Result.getOrThrow(parse({ data: file, port: "0" })), () => Effect.void))
          expect(none.message).toBe(
            `The data directory ${file} can't be used: it is a file. Fix the cause, or choose another directory with --data.`
          )
        })
      )
    }).pipe(Effect.scoped)
  )
})
