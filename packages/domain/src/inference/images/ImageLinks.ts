/**
 * Links to images (decisions: POST /images/generations, `url`): whoever has one sees the image, for an hour. A link ends in
 * a secret that nobody guesses, of which only the fingerprint is kept.
 */
import { Clock, Context, Crypto, Effect, Layer } from "effect"
import * as Base64Url from "effect/encoding/Base64Url"
import { KeyHash } from "../../access/KeyHash.ts"
import { ImageLinkStore } from "./ImageLinkStore.ts"

const LINK_LIVES_MS = 3_600_000
const SECRET_BYTES = 24

export class ImageLinks extends Context.Service<
  ImageLinks,
  {
    /** Keeps an image, and answers the secret of its link. */
    readonly keep: (workspaceId: string, bytes: Uint8Array) => Effect.Effect<string>
    /** The image behind a secret; undefined: there is none, or no longer. */
    readonly find: (secret: string) => Effect.Effect<Uint8Array | undefined>
  }
>()("@sluice/domain/inference/images/ImageLinks") {
  static readonly layerNoDeps = Layer.effect(
    ImageLinks,
    Effect.gen(function* () {
      const store = yield* ImageLinkStore
      const crypto = yield* Crypto.Crypto
      const keys = yield* KeyHash
      return ImageLinks.of({
        keep: Effect.fnUntraced(function* (workspaceId, bytes) {
          const now = yield* Clock.currentTimeMillis
          const id = yield* crypto.randomUUIDv7()
          const secret = Base64Url.encode(yield* crypto.randomBytes(SECRET_BYTES))
          yield* store.keep({ id, hash: keys.hash(secret), workspaceId, bytes, expiresAt: now + LINK_LIVES_MS }, now)
          return secret
        }, Effect.orDie),
        find: (secret) => Effect.flatMap(Clock.currentTimeMillis, (now) => store.find(keys.hash(secret), now))
      })
    })
  )

  static readonly layer = ImageLinks.layerNoDeps.pipe(Layer.provide(ImageLinkStore.layer))
}
