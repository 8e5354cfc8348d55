/** Several servers behind one model, of which the first that may be asked is asked first, on a clock of the test's own. */
import { Clock, Effect, Random } from "effect"
import { recordedServer, says, type Script } from "@sluice/testing/upstreams/RecordedServer"
import { ask, chatEntry, question, world } from "@sluice/testing/upstreams/UpstreamWorld"

export const fails =
  (status: number, headers: Record<string, string> = {}): Script =>
  (_, response) =>
    says(response, status, { error: { message: "no" } }, headers)

export const over = (scripts: ReadonlyArray<Script>, more: object = {}) =>
  Effect.gen(function* () {
    const servers = yield* Effect.forEach(scripts, recordedServer)
    const upstreams = servers.map(({ url }) => ({ base_url: url, ...more }))
    let now = 1_000_000
    const clock: Clock.Clock = Object.assign(Object.create(Clock.Clock.defaultValue()), {
      currentTimeMillisUnsafe: () => now
    })
    const models = yield* world([chatEntry(upstreams)], {}, { clock })
    const asking = (more: object) => ask(models, question(more)).pipe(Effect.provideService(Random.Random, inOrder))
    const counts = () => servers.map(({ seen }) => seen.length)
    const states = Effect.map(models.health!, (all) => all.map(({ state }) => state))
    return { servers, asking, asked: asking({}), counts, states, pass: (ms: number) => void (now += ms) }
  })

/** Always the first that may be asked. */
export const inOrder = { nextDoubleUnsafe: () => 0, nextIntUnsafe: () => 0 }
