/** Two server processes on one PostgreSQL, and waiting for what they come to. */
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { freshDatabase } from "../engines/Postgres.ts"
import { freePort, ServerProcess, temporaryDirectory, TEST_KEY } from "./ServerProcess.ts"

/** Both replicas, started at once on an empty database. */
export const withTwo = async (
  speed: number,
  use: (a: ServerProcess, b: ServerProcess) => Promise<void>,
  flags: ReadonlyArray<string> = []
) => {
  const directory = temporaryDirectory()
  const test = Effect.gen(function* () {
    const databaseUrl = yield* freshDatabase
    const make = Effect.promise(
      async () =>
        new ServerProcess({ port: await freePort(), data: directory.path, key: TEST_KEY, databaseUrl, speed, flags })
    )
    const [a, b] = [yield* make, yield* make]
    yield* Effect.promise(async () => {
      try {
        await Promise.all([a.start(), b.start()])
        await use(a, b)
      } finally {
        await Promise.all([a.end("SIGKILL"), b.end("SIGKILL")])
      }
    })
  })
  await Effect.runPromise(Effect.scoped(test))
  directory.remove()
}

/** Ends a hang, and nothing else: a busy machine may take as long as it likes. */
const LIMIT_MS = 240_000

/** Waits for a state. */
export const until = async <A>(what: string, look: () => Promise<A | undefined>): Promise<A> => {
  const end = performance.now() + LIMIT_MS
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`${what} did not happen`)
    await sleep(50)
  }
}
