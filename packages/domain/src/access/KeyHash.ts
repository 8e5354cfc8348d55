/**
 * The fingerprint under which a key is stored and found: SHA-256, lowercase hex. A synchronous port, because it is on the
 * path of every request and effect's own digest is asynchronous. Looking a fingerprint up leaks nothing by its timing:
 * who does not know the key cannot choose how far a comparison of fingerprints gets.
 */
import { Context } from "effect"

export class KeyHash extends Context.Service<KeyHash, { readonly hash: (key: string) => string }>()(
  "@sluice/domain/access/KeyHash"
) {}
