/**
 * The port to the hash under which a key is stored and looked up: SHA-256, lowercase hex. The port is synchronous,
 * because every request needs a hash and Effect's own digest is asynchronous. The timing of a look-up leaks nothing: a
 * client that does not know a key cannot choose how many leading bytes of the hashes are equal.
 */
import { Context } from "effect"

export class KeyHash extends Context.Service<KeyHash, { readonly hash: (key: string) => string }>()(
  "@sluice/domain/access/KeyHash"
) {}
