/**
 * Sealing of secret values at rest: AES-256-GCM under a data key per value, itself sealed by a master key with an id.
 * `aad` binds a value to its table, row and column, so that a sealed value moved elsewhere does not open.
 */
import type { Effect, Redacted } from "effect"
import { Context, Schema } from "effect"

/** The bytes do not open under any known master key with this associated data. */
export class SealBroken extends Schema.TaggedError<SealBroken>()("SealBroken", { aad: Schema.String }) {}

export interface SealService {
  /** Self-describing: the master key's id is inside. About 100 bytes longer than the value. */
  readonly seal: (value: Redacted.Redacted<string>, aad: string) => Uint8Array
  readonly open: (sealed: Uint8Array, aad: string) => Effect.Effect<Redacted.Redacted<string>, SealBroken>
}

export class Seal extends Context.Service<Seal, SealService>()("@sluice/domain/database/Seal") {}
