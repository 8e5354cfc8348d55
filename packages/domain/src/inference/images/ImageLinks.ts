/**
 * Links to generated images (decisions: POST /images/generations, `url`). A link is valid for one hour, for every
 * client that has it, and contains a random secret, of which only the hash is stored.
 */
import { Clock, Context, Crypto, Effect, Layer } from "effect"
import * as Base64Url from "effect/encoding/Base64Url"
import { KeyHash } from "../../access/KeyHash.ts"
import { ImageLinkStore } from "./ImageLinkStore.ts"

const LINK_LIFETIME_MS = 3_600_000
const SECRET_BYTES = 24

export class ImageLinks extends Context.Service<
  ImageLinks,
  {
    /** Stores an image, and returns the secret of its link. */
    readonly keep: (workspaceId: string, bytes: Uint8Array) => Effect.Effect<string>
    /** Returns the image behind a secret; undefined if there is none or it has expired. */
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
          yield* store.keep({ id, hash: keys.hash(secret), workspaceId, bytes, expiresAt: now + LINK_LIFETIME_MS }, now)
          return secret
        }, Effect.orDie),
        find: (secret) => Effect.flatMap(Clock.currentTimeMillis, (now) => store.find(keys.hash(secret), now))
      })
    })
  )

  static readonly layer = ImageLinks.layerNoDeps.pipe(Layer.provide(ImageLinkStore.layer))
}
