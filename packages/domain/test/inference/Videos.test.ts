/** Films over a provider that fails: what is held is charged once or given back, whatever it answers, on every database. */
import { expect } from "@effect/vitest"
import { NodeCrypto } from "@effect/platform-node"
import { Signals } from "@sluice/domain/database/Signals"
import { Wakeups } from "@sluice/domain/database/Wakeups"
import type { VideoModel, VideoProgress, VideoProvider } from "@sluice/domain/inference/MediaProvider"
import { ModelProvider, UpstreamFailed } from "@sluice/domain/inference/ModelProvider"
import { VideoListStore } from "@sluice/domain/inference/VideoListStore"
import { VideoReconciler } from "@sluice/domain/inference/VideoReconciler"
import type { Video } from "@sluice/domain/inference/Video"
import { type VideoError, Videos } from "@sluice/domain/inference/Videos"
import { VideoStore } from "@sluice/domain/inference/VideoStore"
import * as Observation from "@sluice/domain/observation/Meters"
import { Crypto, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { onEveryDatabase } from "../../../../test/support/Databases.ts"
import { money, openWorkspace, replica, setBudget } from "./support/Workspace.ts"

const MODEL: VideoModel = {
  id: "film",
  created: 0,
  ownedBy: "test",
  sizes: ["640x368"],
  seconds: [4, 8],
  secondPrice: 10n
}
const REQUEST = { model: "film", prompt: "a harbour", size: undefined, seconds: undefined, picture: undefined }

/** What the provider does, set by each test; what it was asked. */
interface Script {
  submit: Effect.Effect<string, UpstreamFailed>
  look: Effect.Effect<VideoProgress, UpstreamFailed>
  remove: Effect.Effect<void, UpstreamFailed>
  readonly asked: Array<string>
}
const script: Script = { submit: Effect.succeed("r"), look: Effect.never, remove: Effect.void, asked: [] }
const asking = <A>(what: string, answer: () => Effect.Effect<A, UpstreamFailed>) =>
  Effect.suspend(() => {
    script.asked.push(what)
    return answer()
  })
const videos: VideoProvider = {
  models: [MODEL],
  submit: (_model, { id }) => asking(`submit ${id}`, () => script.submit),
  look: (_model, reference) => asking(`look ${reference}`, () => script.look),
  read: () => Effect.die(new Error("Nobody reads here")),
  remove: (_model, reference) => asking(`remove ${reference}`, () => script.remove)
}

const services = Layer.mergeAll(Videos.layerNoDeps, VideoReconciler.layerNoDeps).pipe(
  Layer.provideMerge(Layer.mergeAll(VideoStore.layer, VideoListStore.layer)),
  Layer.provide(Wakeups.layer.pipe(Layer.provideMerge(Signals.layer))),
  Layer.provide(Layer.succeed(ModelProvider, { name: "test", models: [], chat: () => Effect.never, videos })),
  Layer.provide(replica),
  Layer.provide(NodeCrypto.layer),
  Layer.provideMerge(Observation.layer)
)

/** How many were counted with each end, and what they cost. */
const counted = Effect.map(Observation.Meters, ({ modelCost, modelDuration, modelRequests }) => ({
  ok: modelRequests.of("film", "ok").value,
  failed: modelRequests.of("film", "failed").value,
  refused: modelRequests.of("film", "refused").value,
  nanoUsd: Math.round(modelCost.of("film").value * 1e9),
  seconds: modelDuration.of("film").sum
}))

const failed = (reason: UpstreamFailed["reason"]) => Effect.fail(new UpstreamFailed({ reason }))
let workspaces = 700

const setUp = Effect.fn(function* (balance: bigint) {
  Object.assign(script, { submit: Effect.succeed("r"), look: Effect.succeed({ _tag: "Waiting" }), remove: Effect.void })
  script.asked.length = 0
  const principal = yield* openWorkspace(++workspaces, balance)
  const { tick } = yield* VideoReconciler
  const videos = yield* Videos
  const submit: (...order: Parameters<typeof videos.submit>) => Effect.Effect<Video, VideoError> = (...order) =>
    Effect.map(videos.submit(...order), ({ video }) => video)
  return { principal, all: { ...videos, submit }, videos, turn: Effect.andThen(TestClock.adjust("1 minute"), tick) }
})

onEveryDatabase("Videos", (it) => {
  it.layer(services)("over a provider that fails", (it) => {
    it.effect("charges a completed film once, and asks for each film under its own id", () =>
      Effect.gen(function* () {
        const { all, principal, turn } = yield* setUp(100n)
        const before = yield* counted
        const video = yield* all.submit(principal, REQUEST)
        expect(yield* money(principal)).toMatchObject({ balance: 100n, held: 40n, openHolds: 40n })
        script.submit = failed("broken")
        yield* turn
        script.submit = Effect.succeed("its name")
        yield* turn
        expect(script.asked).toEqual([`submit ${video.id}`, `submit ${video.id}`])
        script.look = failed("timeout")
        yield* turn
        script.look = Effect.succeed({ _tag: "Filming", percent: 30 })
        yield* turn
        expect(yield* all.show(principal, video.id)).toMatchObject({ status: "in_progress", percent: 30 })
        script.look = Effect.succeed({ _tag: "Completed" })
        yield* turn
        yield* turn
        expect(script.asked.at(-1)).toBe("look its name")
        expect(yield* all.show(principal, video.id)).toMatchObject({ status: "completed", cost: 40n })
        expect(yield* money(principal)).toMatchObject({
          balance: 60n,
          held: 0n,
          openHolds: 0n,
          usage: 1n,
          spent: 40n,
          entries: 0n
        })
        // Seen five minutes after it was ordered, and counted once.
        expect(yield* counted).toEqual({
          ...before,
          ok: before.ok + 1,
          nanoUsd: before.nanoUsd + 40,
          seconds: before.seconds + 300
        })
      })
    )

    it.effect("counts one that failed or was not paid for as that, and at no cost", () =>
      Effect.gen(function* () {
        const { all, principal, turn } = yield* setUp(50n)
        const before = yield* counted
        yield* all.submit(principal, REQUEST)
        yield* Effect.flip(all.submit(principal, REQUEST))
        script.submit = failed("refused")
        yield* turn
        yield* turn
        expect(yield* counted).toEqual({ ...before, failed: before.failed + 1, refused: before.refused + 1 })
      })
    )

    it.effect("takes an order that is said twice once, though the money is there for one alone", () =>
      Effect.gen(function* () {
        const { principal } = yield* setUp(50n)
        const { environmentId, keyId, workspaceId } = principal
        const id = yield* Effect.flatMap(Crypto.Crypto, (crypto) => crypto.randomUUIDv7())
        const order = { id, workspaceId, environmentId, keyId, ...REQUEST, size: "640x368", seconds: 4, price: 40n }
        const store = yield* VideoStore
        expect(yield* store.admit(order)).toMatchObject({ refused: null })
        expect(yield* store.admit(order)).toMatchObject({ refused: null })
        expect(yield* money(principal)).toMatchObject({ balance: 50n, held: 40n, openHolds: 40n })
      }).pipe(Effect.provide(NodeCrypto.layer))
    )

    it.effect("takes an order once, however often and however fast it is said under one key", () =>
      Effect.gen(function* () {
        const { principal, turn, videos } = yield* setUp(100n)
        const said = { ...REQUEST, idempotencyKey: "k" }
        const all = yield* Effect.all(
          Array.from({ length: 8 }, () => videos.submit(principal, said)),
          { concurrency: "unbounded" }
        )
        expect(new Set(all.map(({ video }) => video.id)).size).toBe(1)
        expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1)
        expect(yield* money(principal)).toMatchObject({ balance: 100n, held: 40n, openHolds: 40n })
        const other = yield* Effect.flip(videos.submit(principal, { ...said, prompt: "fog" }))
        expect(other._tag).toBe("VideoOrderDiffers")
        script.look = Effect.succeed({ _tag: "Completed" })
        yield* turn
        yield* turn
        expect(yield* videos.submit(principal, said)).toMatchObject({ replayed: true, video: { status: "completed" } })
        expect(yield* money(principal)).toMatchObject({ balance: 60n, held: 0n, usage: 1n })
        // Another environment knows nothing of it.
        const stranger = yield* openWorkspace(++workspaces, 100n)
        expect((yield* videos.submit(stranger, said)).replayed).toBe(false)
      })
    )

    it.effect("gives everything back where the film fails, is refused, or never ends", () =>
      Effect.gen(function* () {
        const { all, principal, turn } = yield* setUp(200n)
        const fails = yield* all.submit(principal, REQUEST)
        script.look = Effect.succeed({ _tag: "Failed", code: "moderation_blocked" })
        yield* turn
        yield* turn
        expect(yield* all.show(principal, fails.id)).toMatchObject({
          status: "failed",
          failure: "moderation_blocked",
          cost: 0n
        })
        const refused = yield* all.submit(principal, { ...REQUEST, seconds: 8 })
        script.submit = failed("refused")
        yield* turn
        expect(yield* all.show(principal, refused.id)).toMatchObject({ failure: "video_generation_failed" })
        const endless = yield* all.submit(principal, REQUEST)
        script.submit = Effect.succeed("endless")
        script.look = Effect.succeed({ _tag: "Filming", percent: 99 })
        yield* turn
        yield* TestClock.adjust("1 hour")
        yield* turn
        expect(yield* all.show(principal, endless.id)).toMatchObject({ failure: "video_timeout", cost: 0n })
        expect(script.asked.at(-1)).toBe("remove endless")
        expect(yield* money(principal)).toMatchObject({ balance: 200n, held: 0n, openHolds: 0n, usage: 0n, spent: 0n })
      })
    )

    it.effect("refuses what money or budget do not cover, and holds nothing then", () =>
      Effect.gen(function* () {
        const { all, principal } = yield* setUp(79n)
        yield* all.submit(principal, REQUEST)
        const poor = yield* Effect.flip(all.submit(principal, REQUEST))
        expect(poor).toMatchObject({ _tag: "CreditInsufficient", required: 40n, available: 39n })
        yield* setBudget(principal, 0n)
        expect(yield* Effect.flip(all.submit(principal, REQUEST))).toMatchObject({ _tag: "BudgetReached" })
        expect(yield* money(principal)).toMatchObject({ balance: 79n, held: 40n, openHolds: 40n })
      })
    )

    it.effect("forgets a deleted film once the provider has", () =>
      Effect.gen(function* () {
        const { all, principal, turn } = yield* setUp(100n)
        const video = yield* all.submit(principal, REQUEST)
        expect(yield* Effect.flip(all.remove(principal, video.id))).toMatchObject({ _tag: "VideoNotEnded" })
        script.look = Effect.succeed({ _tag: "Completed" })
        yield* turn
        yield* turn
        script.remove = failed("broken")
        yield* all.remove(principal, video.id)
        expect(yield* Effect.flip(all.show(principal, video.id))).toMatchObject({ _tag: "VideoNotFound" })
        yield* turn
        script.remove = Effect.void
        yield* turn
        yield* turn
        expect(script.asked.filter((asked) => asked.startsWith("remove"))).toEqual(["remove r", "remove r"])
        expect(yield* money(principal)).toMatchObject({ balance: 60n, usage: 1n })
      })
    )

    it.effect("commits nothing under a claim that another replica has taken", () =>
      Effect.gen(function* () {
        const { all, principal } = yield* setUp(100n)
        const store = yield* VideoStore
        const video = yield* all.submit(principal, REQUEST)
        const mine = (yield* store.claim(10)).find(({ id }) => id === video.id)!
        yield* TestClock.adjust("1 minute")
        const theirs = (yield* store.claim(10)).find(({ id }) => id === video.id)!
        const done = { status: "completed", percent: 100, failure: null, reference: "r" } as const
        expect(yield* store.commit(mine, done, 0)).toBe(false)
        expect(yield* money(principal)).toMatchObject({ balance: 100n, held: 40n })
        expect(yield* store.commit(theirs, done, 0)).toBe(true)
        expect(yield* store.commit(theirs, done, 0)).toBe(false)
        expect(yield* money(principal)).toMatchObject({ balance: 60n, held: 0n, usage: 1n, entries: 0n })
      })
    )
  })
})
