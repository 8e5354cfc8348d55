/**
 * Encryption of secret values at rest: AES-256-GCM with a data key per value; a master key with an id encrypts the data
 * key. `aad` binds a value to its table, row and column, so that a sealed value that was moved elsewhere does not open.
 */
import type { Effect, Redacted } from "effect"
import { Context, Schema } from "effect"

/** The bytes do not open with any known master key and this associated data. */
export class SealBroken extends Schema.TaggedError<SealBroken>()("SealBroken", { aad: Schema.String }) {}

export interface SealService {
  /** Encrypts a value. The result contains the id of the master key, and is about 100 bytes longer than the value. */
  readonly seal: (value: Redacted.Redacted<string>, aad: string) => Uint8Array
  readonly open: (sealed: Uint8Array, aad: string) => Effect.Effect<Redacted.Redacted<string>, SealBroken>
}

export class Seal extends Context.Service<Seal, SealService>()("@sluice/domain/database/Seal") {}
