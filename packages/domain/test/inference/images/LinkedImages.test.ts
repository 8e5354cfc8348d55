/** Images by link: each is fetched once, a few at a time, before the model is called; a refusal names the link. */
import { NodeCrypto } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { decodeChat } from "@sluice/domain/inference/chat/Chat"
import { type ChatRequest } from "@sluice/domain/models/ChatRequest"
import {
  type Allowance,
  ImageFetch,
  type ImageFetchService,
  ImageUnfetched
} from "@sluice/domain/inference/images/ImageFetch"
import { Inference } from "@sluice/domain/inference/chat/Inference"
import { linksOf, MAX_IMAGE_BYTES, MAX_LINKS } from "@sluice/domain/inference/images/LinkedImages"
import { Metering } from "@sluice/domain/metering/Metering"
import { type Model, ModelProvider } from "@sluice/domain/models/ModelProvider"
import { UpstreamFailed } from "@sluice/domain/models/UpstreamFailed"
import { Tokens } from "@sluice/domain/models/Tokens"
import { Deferred, Effect, Exit, Fiber, Layer, Result } from "effect"
import { idOf, replica } from "@sluice/testing/fixtures/Workspace"

const model: Model = {
  id: "m",
  created: 0,
  ownedBy: "t",
  contextLength: 100_000,
  maxOutputTokens: 10,
  vision: true,
  promptPrice: 1n,
  completionPrice: 1n
}
const principal = idOf.principal(1)
const image = (url: string) => ({ type: "image_url", image_url: { url, detail: "low" } })
const text = (words: string) => ({ type: "text", text: words })
const DATA = "data:image/png;base64,iVBORw0KGgoAAAAAAAAA"

const requestOf = (...contents: ReadonlyArray<unknown>) =>
  Result.getOrThrow(decodeChat({ model: "m", messages: contents.map((content) => ({ role: "user", content })) }))

/** Runs a chat over the given fetches; returns the model's input and the result. */
const asked = (request: ChatRequest, images: ImageFetchService["fetch"] | undefined, vision = true) => {
  const seen: Array<ChatRequest> = []
  const reserved: Array<bigint> = []
  const world = Layer.succeed(ModelProvider, {
    models: [{ ...model, vision }],
    chat: (_, request, hear) => {
      seen.push(request)
      return hear([{ _tag: "Finish", index: 0, reason: "stop" }])
    }
  })
  const books = Layer.succeed(Metering, {
    reserve: (charge, amount) => Effect.sync(() => (reserved.push(amount), charge)),
    settle: () => Effect.void
  })
  const layer = Inference.layerNoDeps.pipe(
    Layer.provide(images === undefined ? Layer.empty : Layer.succeed(ImageFetch, { fetch: images })),
    Layer.provide(Layer.mergeAll(world, books, NodeCrypto.layer, replica)),
    Layer.provide(
      Layer.succeed(
        Tokens,
        Tokens.by((text) => text.length)
      )
    )
  )
  const chat = Effect.flatMap(Inference, (inference) => inference.chat(principal, "r", request))
  return { seen, reserved, result: Effect.result(Effect.provide(chat, layer)) }
}

const found: ImageFetchService["fetch"] = (_, url) => Effect.succeed(`${DATA}00${url.length}`)

describe("Images by link", () => {
  it.effect("are in place, in their order, when the model is called", () =>
    Effect.gen(function* () {
      const request = requestOf(
        [text("a"), image("http://a.example/1"), text("b"), image(DATA), image("HTTPS://a.example/22")],
        "no images",
        [image("https://a.example/333")]
      )
      const fetched: Array<readonly [string, string]> = []
      const { reserved, result, seen } = asked(request, (owner, url, allowance) => {
        fetched.push([owner, url])
        return found(owner, url, allowance)
      })
      expect(Result.isSuccess(yield* result)).toBe(true)
      expect(fetched).toEqual(
        ["http://a.example/1", "HTTPS://a.example/22", "https://a.example/333"].map((url) => [
          principal.workspaceId,
          url
        ])
      )
      const low = (url: string) => ({ url, detail: "low" })
      expect(seen[0]!.messages[0]!.parts).toEqual(["a", low(`${DATA}0018`), "b", low(DATA), low(`${DATA}0020`)])
      expect(seen[0]!.messages[0]!.images).toEqual([low(`${DATA}0018`), low(DATA), low(`${DATA}0020`)])
      expect(seen[0]!.messages[1]).toEqual(request.messages[1])
      expect(seen[0]!.messages[2]!.images).toEqual([low(`${DATA}0021`)])
      expect(linksOf(seen[0]!)).toEqual([])
      // The charge equals that of data: URLs.
      const sent = asked(
        requestOf([text("a"), image(DATA), text("b"), image(DATA), image(DATA)], "no images", [image(DATA)]),
        found
      )
      yield* sent.result
      expect(reserved).toEqual(sent.reserved)
    })
  )

  it.effect("refuse the chat when one can't be fetched, and nothing is reserved", () =>
    Effect.gen(function* () {
      const request = requestOf("hi", [text("a"), image("http://a.example/1"), image("http://b.example/2")])
      const broken: ImageFetchService["fetch"] = (owner, url, allowance) =>
        url.includes("b.example") ? Effect.fail(new ImageUnfetched({ why: "no" })) : found(owner, url, allowance)
      const refused = asked(request, broken)
      expect(yield* Effect.map(refused.result, Result.getFailure)).toMatchObject({
        value: {
          _tag: "ModelRequestInvalid",
          param: "messages.1.content.2.image_url.url",
          message: "Invalid value for 'messages.1.content.2.image_url.url': no"
        }
      })
      expect([refused.seen, refused.reserved]).toEqual([[], []])
      const page = asked(request, () => Effect.succeed("data:image/png;base64,PGh0bWw+"))
      expect(yield* Effect.map(page.result, Result.getFailure)).toMatchObject({
        value: {
          param: "messages.1.content.1.image_url.url",
          message: expect.stringContaining("PNG, JPEG, WebP or GIF by its bytes")
        }
      })
      expect([page.seen, page.reserved]).toEqual([[], []])
      const busy = asked(request, () => Effect.fail(new UpstreamFailed({ reason: "overloaded" })))
      expect(yield* Effect.map(busy.result, Result.getFailure)).toMatchObject({ value: { reason: "overloaded" } })
    })
  )

  it.effect("are refused unless the operator allows them, and never fetched for a model without image input", () =>
    Effect.gen(function* () {
      const request = requestOf([image(DATA), image("https://a.example/1")])
      expect(yield* Effect.map(asked(request, undefined).result, Result.getFailure)).toMatchObject({
        value: {
          param: "messages.0.content.1.image_url.url",
          message: expect.stringMatching(/only data: URLs .*--allow-image-urls/)
        }
      })
      const blind = asked(request, () => Effect.die("fetched"), false)
      expect(yield* Effect.map(blind.result, Result.getFailure)).toMatchObject({
        value: { param: "messages.0.content" }
      })
      expect(Result.isSuccess(yield* asked(requestOf([image(DATA)]), undefined).result)).toBe(true)
    })
  )

  it.effect("are bounded in number, at a time and in total", () =>
    Effect.gen(function* () {
      const links = Array.from({ length: MAX_LINKS + 1 }, (_, index) => image(`https://a.example/${index}`))
      expect(yield* Effect.map(asked(requestOf(links), found).result, Result.getFailure)).toMatchObject({
        value: { param: `messages.0.content.${MAX_LINKS}.image_url.url` }
      })
      let now = 0
      let most = 0
      const allowances = new Set<Allowance>()
      const counted: ImageFetchService["fetch"] = (owner, url, allowance) =>
        Effect.acquireUseRelease(
          Effect.sync(() => (allowances.add(allowance), (most = Math.max(most, ++now)))),
          () => Effect.andThen(Effect.yieldNow, found(owner, url, allowance)),
          () => Effect.sync(() => now--)
        )
      const sent = `${DATA}${"A".repeat(4_000)}`
      const all = asked(requestOf([image(sent)], links.slice(1)), counted)
      expect(Result.isSuccess(yield* all.result)).toBe(true)
      expect([most, allowances.size]).toEqual([4, 1])
      const [allowance] = allowances
      expect(allowance!.left).toBe(MAX_IMAGE_BYTES - sent.length * 0.75)
      expect([allowance!.take(allowance!.left + 1), allowance!.take(allowance!.left), allowance!.left]).toEqual([
        false,
        true,
        0
      ])
    })
  )

  it.effect("are aborted when the caller disconnects", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      let left = 0
      const endless: ImageFetchService["fetch"] = () =>
        Effect.onInterrupt(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never), () =>
          Effect.sync(() => void left++)
        )
      const request = requestOf([image("https://a.example/1"), image("https://a.example/2")])
      const { reserved, result } = asked(request, endless)
      const fiber = yield* Effect.forkChild(result)
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      expect(Exit.hasInterrupts(yield* Fiber.await(fiber))).toBe(true)
      expect([left, reserved]).toEqual([2, []])
    })
  )
})
